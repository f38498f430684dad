// Populations and code as bytes: names instead of numbers of instructions, so that a later version can read them.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>

#include "push/foreign.hpp"
#include "push/population.hpp"
#include "push/table.hpp"

namespace flexicase::push {
namespace {

constexpr std::uint32_t kVersion = 1;

bool has_name(Kind kind) { return kind >= Kind::instruction && kind != Kind::nil; }

class Writer {
 public:
  std::string bytes;

  template <class T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes.append(text);
  }
};

class ItemWriter : public Writer {
 public:
  void put_item(const Item& item) {
    put(item.kind);
    put(item.flag);
    if (has_name(item.kind)) return put(number_of(item));
    switch (item.kind) {
      case Kind::string:
        put(item.length);
        bytes.append(reinterpret_cast<const char*>(item.text), item.length * sizeof(char16_t));
        return;
      case Kind::vector:
        put(item.length);
        for (std::uint32_t i = 0; i < item.length; ++i) put_item(item.items[i]);
        return;
      case Kind::list: return put(item.length);  // its items follow
      default: put(item.number);
    }
  }

  // What names stand for, then what `put_item` was given.
  std::string with_names() const {
    Writer all;
    all.put(kVersion);
    all.put(static_cast<std::uint32_t>(names_.size()));
    for (const std::string& name : names_) all.put_text(name);
    return all.bytes + bytes;
  }

 private:
  std::uint32_t number_of(const Item& item) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(item.number) * 4096 + static_cast<std::uint64_t>(item.kind) * 64 + item.stack;
    const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(symbol_name(item));
    if (is_new && item.kind == Kind::foreign) names_.back().append(1, ' ').append(item.foreign->signature);
    return entry->second;
  }
  std::vector<std::string> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) throw std::invalid_argument("the bytes end too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  // A number of things that take at least `least` bytes each.
  std::size_t count(std::size_t least) {
    const auto number = get<std::uint32_t>();
    if (number > rest_.size() / least) throw std::invalid_argument("the bytes end too early");
    return number;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// A name, or the name of an instruction from outside the engine, a space and its signature.
Item read_name(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::string_view start = text.substr(0, space);
  if (start.empty() || !std::all_of(start.begin(), start.end(), [](char c) { return c > ' ' && c < 127; })) {
    throw std::invalid_argument("a name is not of printable ASCII characters");
  }
  if (space == text.npos) return symbol(text);
  const std::string name(start), signature(text.substr(space + 1));
  const Foreign* found = find_foreign(name);
  if (!found) {
    throw std::invalid_argument("the instruction '" + name + "' (" + signature +
                                ") is not registered in this process; register it with push.instruction first");
  }
  if (found->signature != signature) {
    throw std::invalid_argument("the instruction '" + name + "' must be registered as " + signature + ", but it is " +
                                found->signature);
  }
  Item item = make(Kind::foreign);
  item.foreign = found;
  return item;
}

std::vector<Item> read_names(Reader& reader) {
  if (reader.get<std::uint32_t>() != kVersion) throw std::invalid_argument("the bytes are of another version");
  std::vector<Item> named(reader.count(sizeof(std::uint32_t)));
  for (Item& item : named) item = read_name(reader.take(reader.count(1)));
  return named;
}

bool is_element(Kind kind) { return kind <= Kind::boolean || kind == Kind::string; }

bool is_in_range(Kind kind, std::int64_t number) {
  if (kind == Kind::boolean) return number == 0 || number == 1;
  return kind != Kind::character || (number >= 0 && number <= 0xffff);
}

// Anything but the items of a list, which follow it.
Item read_item(Reader& reader, const std::vector<Item>& named, Arena& arena, bool in_vector = false) {
  const auto kind = reader.get<Kind>();
  const auto flag = reader.get<std::uint8_t>();
  if (in_vector && !is_element(kind)) throw std::invalid_argument("a vector has an element of no known kind");
  if (kind > Kind::foreign) throw std::invalid_argument("an item is of no known kind");
  if (has_name(kind)) {
    const auto number = reader.get<std::uint32_t>();
    if (number >= named.size()) throw std::invalid_argument("an item has no such name");
    if (named[number].kind != kind) {
      throw std::invalid_argument("'" + symbol_name(named[number]) + "' means something else in this process");
    }
    return named[number];
  }
  Item item = make(kind);
  item.flag = flag;
  if (kind == Kind::string) {
    const std::size_t length = reader.count(sizeof(char16_t));
    auto* text = arena.take<char16_t>(length);
    const std::string_view bytes = reader.take(length * sizeof(char16_t));
    if (length) std::memcpy(text, bytes.data(), bytes.size());
    item.text = text;
    item.length = static_cast<std::uint32_t>(length);
  } else if (kind == Kind::vector) {
    const std::size_t length = reader.count(2);
    auto* items = arena.take<Item>(length);
    for (std::size_t i = 0; i < length; ++i) {
      items[i] = read_item(reader, named, arena, true);
      if (items[i].kind != items[0].kind) throw std::invalid_argument("a vector has elements of several kinds");
    }
    item.items = items;
    item.length = static_cast<std::uint32_t>(length);
  } else if (kind == Kind::list) {
    item.length = static_cast<std::uint32_t>(reader.count(2));
  } else {
    item.number = reader.get<std::int64_t>();
    if (!is_in_range(kind, item.number)) throw std::invalid_argument("an item has a value out of range");
  }
  return item;
}

}  // namespace

std::string to_bytes(const Population& population) {
  ItemWriter writer;
  writer.put(static_cast<std::uint32_t>(population.genomes.size()));
  for (const auto& genome : population.genomes) {
    writer.put(static_cast<std::uint32_t>(genome.size()));
    for (const Gene& gene : genome) {
      writer.put(gene.close);
      writer.put(gene.silence);
      writer.put_item(gene.item);
    }
  }
  return writer.with_names();
}

std::shared_ptr<Population> population_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  const std::vector<Item> named = read_names(reader);
  auto population = std::make_shared<Population>();
  Arena& arena = population->add_arena();
  population->genomes.resize(reader.count(sizeof(std::uint32_t)));
  for (auto& genome : population->genomes) {
    genome.resize(reader.count(7));
    for (Gene& gene : genome) {
      gene.close = reader.get<std::int32_t>();
      gene.silence = reader.get<Silence>();
      if (gene.close < 0) throw std::invalid_argument("a gene closes a negative number of blocks");
      if (gene.silence > Silence::noop) throw std::invalid_argument("a gene is silent in no known way");
      gene.item = read_item(reader, named, arena);
      if (is_list(gene.item)) throw std::invalid_argument("a gene is code in parentheses");
    }
  }
  if (!reader.done()) throw std::invalid_argument("the bytes go on after their end");
  return population;
}

std::string to_bytes(const Item& code) {
  ItemWriter writer;
  std::vector<Item> waiting{code};
  while (!waiting.empty()) {
    const Item next = waiting.back();
    waiting.pop_back();
    writer.put_item(next);
    if (is_list(next)) waiting.insert(waiting.end(), next.items, next.items + next.length);
  }
  return writer.with_names();
}

std::shared_ptr<Code> code_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  const std::vector<Item> named = read_names(reader);
  auto code = std::make_shared<Code>();
  struct Open {
    Item* place;
    std::uint32_t length, done;
  };
  std::vector<Open> open;
  do {
    Item item = read_item(reader, named, code->arena);
    if (is_list(item)) {
      if (open.size() >= kHeightLimit) throw std::invalid_argument("code is nested too deeply");
      open.push_back({code->arena.take<Item>(std::size_t{item.length} + 1), item.length, 0});
    } else if (open.empty()) {
      code->item = item;
    } else {
      open.back().place[open.back().length - open.back().done++] = item;
    }
    while (!open.empty() && open.back().done == open.back().length) {
      item = seal_list(open.back().place, open.back().length, INT64_MAX);
      open.pop_back();
      if (open.empty()) {
        code->item = item;
      } else {
        open.back().place[open.back().length - open.back().done++] = item;
      }
    }
  } while (!open.empty());
  if (!reader.done()) throw std::invalid_argument("the bytes go on after their end");
  return code;
}

}  // namespace flexicase::push

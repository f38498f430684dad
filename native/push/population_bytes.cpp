// Populations as bytes: names instead of numbers of instructions, so that a later version can read them.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>

#include "push/population.hpp"
#include "push/table.hpp"

namespace flexicase::push {
namespace {

constexpr std::uint32_t kVersion = 1;

bool has_name(Kind kind) {
  return (kind >= Kind::instruction && kind <= Kind::tagged_when) || kind == Kind::symbol || kind == Kind::foreign;
}

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
  std::vector<std::string> names;

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
      default: put(item.number);
    }
  }

 private:
  std::uint32_t number_of(const Item& item) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(item.number) * 4096 + static_cast<std::uint64_t>(item.kind) * 64 + item.stack;
    const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(symbol_name(item));
    return entry->second;
  }
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
    if (size > rest_.size()) throw std::invalid_argument("the bytes of a population end too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  // A number of things that take at least `least` bytes each.
  std::size_t count(std::size_t least) {
    const auto number = get<std::uint32_t>();
    if (number > rest_.size() / least) throw std::invalid_argument("the bytes of a population end too early");
    return number;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool is_printable(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_in_range(Kind kind, std::int64_t number) {
  if (kind == Kind::boolean) return number == 0 || number == 1;
  return kind != Kind::character || (number >= 0 && number <= 0xffff);
}

Item read_item(Reader& reader, const std::vector<Item>& named, Arena& arena, bool in_vector = false) {
  const auto kind = reader.get<Kind>();
  const auto flag = reader.get<std::uint8_t>();
  if (has_name(kind) && !in_vector) {
    const auto number = reader.get<std::uint32_t>();
    if (number >= named.size() || named[number].kind != kind) throw std::invalid_argument("a gene has no such name");
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
  } else if (kind == Kind::vector && !in_vector) {
    const std::size_t length = reader.count(2);
    auto* items = arena.take<Item>(length);
    for (std::size_t i = 0; i < length; ++i) {
      items[i] = read_item(reader, named, arena, true);
      if (items[i].kind != items[0].kind) throw std::invalid_argument("a vector has elements of several kinds");
    }
    item.items = items;
    item.length = static_cast<std::uint32_t>(length);
  } else if (kind < Kind::character || ((kind == Kind::character || kind == Kind::nil) && !in_vector)) {
    item.number = reader.get<std::int64_t>();
    if (!is_in_range(kind, item.number)) throw std::invalid_argument("a gene has a value out of range");
  } else {
    throw std::invalid_argument("a gene is of no known kind");
  }
  return item;
}

}  // namespace

std::string to_bytes(const Population& population) {
  ItemWriter genes;
  for (const auto& genome : population.genomes) {
    genes.put(static_cast<std::uint32_t>(genome.size()));
    for (const Gene& gene : genome) {
      genes.put(gene.close);
      genes.put(gene.silence);
      genes.put_item(gene.item);
    }
  }
  Writer all;
  all.put(kVersion);
  all.put(static_cast<std::uint32_t>(genes.names.size()));
  for (const std::string& name : genes.names) all.put_text(name);
  all.put(static_cast<std::uint32_t>(population.genomes.size()));
  all.bytes += genes.bytes;
  return all.bytes;
}

std::shared_ptr<Population> from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.get<std::uint32_t>() != kVersion) throw std::invalid_argument("a population of another version");
  std::vector<Item> named(reader.count(sizeof(std::uint32_t)));
  for (Item& item : named) {
    const std::string_view name = reader.take(reader.count(1));
    if (!is_printable(name)) throw std::invalid_argument("a gene has a name that is not printable");
    item = symbol(name);
  }
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
    }
  }
  if (!reader.done()) throw std::invalid_argument("the bytes of a population go on after its end");
  return population;
}

}  // namespace flexicase::push

#include "push/table.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "push/foreign.hpp"

namespace flexicase::push {
namespace {

using Names = std::unordered_map<std::string, int>;

// Set before the actions are first run, so that instructions can name one another.
const Names& row_numbers() {
  static const Names numbers = [] {
    Names found;
    for (std::size_t i = 0; i < instructions().size(); ++i) found.emplace(instructions()[i].name, static_cast<int>(i));
    return found;
  }();
  return numbers;
}

struct Symbols {
  std::mutex lock;
  std::deque<std::string> names;
  Names numbers;
};
Symbols& symbols() {
  static Symbols known;
  return known;
}

bool read_number(std::string_view text, std::int64_t& value) {
  if (text.empty() || text[0] == '-') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool numbered(std::string_view name, std::string_view prefix, Kind kind, Item& item) {
  if (!name.starts_with(prefix)) return false;
  item = make(kind);
  return read_number(name.substr(prefix.size()), item.number);
}

bool tag_symbol(std::string_view name, Item& item) {
  for (int s = 0; s < kStacks; ++s) {
    if (numbered(name, std::string("tag_") + kStackNames[s] + "_", Kind::tag, item)) {
      item.stack = static_cast<std::uint16_t>(s);
      return true;
    }
  }
  return numbered(name, "tagged_", Kind::tagged, item) || numbered(name, "untag_", Kind::untag, item) ||
         numbered(name, "tagged_code_", Kind::tagged_code, item) ||
         numbered(name, "tagged_when_", Kind::tagged_when, item);
}

}  // namespace

void Table::add(std::string name, std::vector<std::string> stacks, Action action, int blocks, std::uint8_t profiles) {
  std::vector<std::string> distinct;
  for (std::string& stack : stacks) {
    if (std::find(distinct.begin(), distinct.end(), stack) == distinct.end()) distinct.push_back(std::move(stack));
  }
  rows.push_back({std::move(name), std::move(distinct), blocks, profiles, action});
}

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all = [] {
    Table table;
    for (const auto add :
         {add_exec, add_integer, add_boolean, add_float, add_char, add_string, add_string_edits, add_vectors, add_code,
          add_code_trees, add_print, add_integer_tags, add_random, add_files, add_outputs}) {
      add(table);
    }
    return std::move(table.rows);
  }();
  return all;
}

const Action* actions() {
  static const std::vector<Action> all = [] {
    std::vector<Action> found;
    for (const Instruction& row : instructions()) found.push_back(row.action);
    return found;
  }();
  return all.data();
}

int find_instruction(std::string_view name) {
  const auto found = row_numbers().find(std::string(name));
  return found == row_numbers().end() ? -1 : found->second;
}

Item instruction(std::string_view name) {
  const int row = find_instruction(name);
  if (row < 0) throw std::logic_error("no instruction is named " + std::string(name));
  return make(Kind::instruction, row);
}

Item symbol(std::string_view name) {
  if (const int row = find_instruction(name); row >= 0) return make(Kind::instruction, row);
  Item item;
  if (numbered(name, "in", Kind::input, item) || tag_symbol(name, item)) return item;
  if (const Foreign* foreign = find_foreign(name)) {
    item = make(Kind::foreign);
    item.foreign = foreign;
    return item;
  }
  Symbols& known = symbols();
  const std::lock_guard guard(known.lock);
  const auto [entry, is_new] = known.numbers.try_emplace(std::string(name), static_cast<int>(known.names.size()));
  if (is_new) known.names.emplace_back(name);
  return make(Kind::symbol, entry->second);
}

std::string symbol_name(const Item& item) {
  if (item.kind == Kind::foreign) return item.foreign->name;
  const std::string number = std::to_string(item.number);
  switch (item.kind) {
    case Kind::instruction: return instructions()[static_cast<std::size_t>(item.number)].name;
    case Kind::input: return "in" + number;
    case Kind::tag: return std::string("tag_") + kStackNames[item.stack] + "_" + number;
    case Kind::tagged: return "tagged_" + number;
    case Kind::untag: return "untag_" + number;
    case Kind::tagged_code: return "tagged_code_" + number;
    case Kind::tagged_when: return "tagged_when_" + number;
    default: {
      const std::lock_guard guard(symbols().lock);
      return symbols().names[static_cast<std::size_t>(item.number)];
    }
  }
}

int blocks(const Item& item) {
  static const std::vector<std::uint8_t> counts = [] {
    std::vector<std::uint8_t> found;
    for (const Instruction& row : instructions()) found.push_back(static_cast<std::uint8_t>(row.blocks));
    return found;
  }();
  if (item.kind == Kind::tag) return item.stack == kExec ? 1 : 0;
  if (item.kind == Kind::foreign) return item.foreign->blocks;
  return item.kind == Kind::instruction ? counts[static_cast<std::size_t>(item.number)] : 0;
}

}  // namespace flexicase::push

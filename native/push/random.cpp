// Instructions that draw random values.
#include <vector>

#include "push/table.hpp"

namespace flexicase::push {
namespace {

constexpr std::uint64_t kMaxRandomPoints = 50;

char16_t draw_char(Stream& draws) {
  const auto n = static_cast<char16_t>(draws.bounded(97));
  return n == 0 ? u'\n' : n == 1 ? u'\t' : static_cast<char16_t>(n + 30);
}

// An instruction of the list W.
Item draw_atom(Stream& draws) {
  static const std::vector<int> rows = [] {
    std::vector<int> found;
    for (std::size_t i = 0; i < instructions().size(); ++i) {
      if (instructions()[i].profiles & kW) found.push_back(static_cast<int>(i));
    }
    return found;
  }();
  return make(Kind::instruction, rows[draws.bounded(rows.size())]);
}

Item gather(Machine& m, std::vector<Item>& items, std::size_t count) {
  Item* place = m.list_place(count);
  std::reverse_copy(items.end() - static_cast<std::ptrdiff_t>(count), items.end(), place + 1);
  items.resize(items.size() - count);
  return m.seal(place, static_cast<std::uint32_t>(count));
}

// A list of that many points: again and again one more atom, or parentheses around the last few items.
Item draw_code(Machine& m, std::uint64_t size) {
  if (size == 1) return draw_atom(m.draws);
  std::vector<Item>& items = m.pending;
  items.clear();
  for (std::uint64_t made = 1; made < size; ++made) {
    const bool wrap = !items.empty() && m.draws.bounded(4) == 0;
    items.push_back(wrap ? gather(m, items, 1 + m.draws.bounded(items.size())) : draw_atom(m.draws));
  }
  return gather(m, items, items.size());
}

void boolean_rand(Machine& m) { m.stacks[kBoolean].push(boolean(m.draws.bounded(2) != 0)); }
void integer_rand(Machine& m) { m.stacks[kInteger].push(integer(static_cast<std::int64_t>(m.draws.bounded(21)) - 10)); }
void float_rand(Machine& m) { m.stacks[kFloat].push(real(2 * m.draws.unit() - 1)); }
void char_rand(Machine& m) { m.stacks[kChar].push(character(draw_char(m.draws))); }
void string_rand(Machine& m) {
  const auto length = static_cast<std::uint32_t>(1 + m.draws.bounded(9));
  auto* text = m.arena.take<char16_t>(length);
  for (std::uint32_t i = 0; i < length; ++i) text[i] = draw_char(m.draws);
  m.stacks[kString].push(string(text, length));
}
void code_rand(Machine& m) {
  if (!m.stacks[kInteger].size) return;
  const Wide n = m.stacks[kInteger].pop().number;
  const auto most = 1 + static_cast<std::uint64_t>((n < 0 ? -n : n) % kMaxRandomPoints);
  m.stacks[kCode].push(draw_code(m, 1 + m.draws.bounded(most)));
}
void code_rand_atom(Machine& m) { m.stacks[kCode].push(draw_atom(m.draws)); }

}  // namespace

void add_random(Table& t) {
  t.add("boolean_rand", {"boolean", "random"}, boolean_rand, 0, kNone);
  t.add("integer_rand", {"integer", "random"}, integer_rand, 0, kNone);
  t.add("float_rand", {"float", "random"}, float_rand, 0, kNone);
  t.add("char_rand", {"char", "random"}, char_rand, 0, kNone);
  t.add("string_rand", {"string", "random"}, string_rand, 0, kNone);
  t.add("code_rand", {"code", "integer", "random"}, code_rand, 0, kNone);
  t.add("code_rand_atom", {"code", "random"}, code_rand_atom, 0, kNone);
}

}  // namespace flexicase::push

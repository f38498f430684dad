// Instructions of the second benchmark suite: answers in numbered slots, and the pins of a roll.
#include "push/table.hpp"

namespace flexicase::push {
namespace {

// The answer stays on its stack.
template <StackId S, int I>
void write_slot(Machine& m) {
  static_assert(I < kSlots);
  if (m.stacks[S].size) m.slots[I] = m.stacks[S].top();
}

// 1-9, X, / and - become the number of pins; another character stays.
void bowling_atoi(Machine& m) {
  if (!m.stacks[kChar].size) return;
  const std::int64_t c = m.stacks[kChar].top().number;
  const bool ten = c == u'X' || c == u'/';
  if (!ten && c != u'-' && (c < u'1' || c > u'9')) return;
  m.stacks[kInteger].push(integer(ten ? 10 : c == u'-' ? 0 : c - u'0'));
  m.stacks[kChar].drop(1);
}

}  // namespace

void add_outputs(Table& t) {
  t.add("output_integer1", {"integer"}, write_slot<kInteger, 0>, 0, kNone);
  t.add("output_integer2", {"integer"}, write_slot<kInteger, 1>, 0, kNone);
  t.add("output_integer3", {"integer"}, write_slot<kInteger, 2>, 0, kNone);
  t.add("output_integer4", {"integer"}, write_slot<kInteger, 3>, 0, kNone);
  t.add("output_vector_integer1", {"vector_integer"}, write_slot<kVectorInteger, 0>, 0, kNone);
  t.add("output_vector_integer2", {"vector_integer"}, write_slot<kVectorInteger, 1>, 0, kNone);
  t.add("string_bowling_atoi", {"char", "integer"}, bowling_atoi, 0, kNone);
}

}  // namespace flexicase::push

// Instructions that every stack has.
#pragma once

#include <algorithm>

#include "push/table.hpp"

namespace flexicase::push {

template <StackId S>
struct Common {
  static constexpr std::int64_t kWithNumber = S == kInteger ? 2 : 1;

  static bool ready(Machine& m) { return m.stacks[kInteger].size && m.stacks[S].size >= kWithNumber; }

  static void pop(Machine& m) {
    if (m.stacks[S].size) m.stacks[S].drop(1);
  }
  static void dup(Machine& m) {
    Stack& s = m.stacks[S];
    if (s.size) s.push(Item{s.top()});
  }
  static void dup_times(Machine& m) {
    if (!ready(m)) return;
    Stack& s = m.stacks[S];
    const std::int64_t n = m.stacks[kInteger].pop().number;
    const Item x = s.pop();
    const std::int64_t copies = std::max<std::int64_t>(0, std::min(n, m.limits.points - s.size));
    std::fill_n(s.extend(copies), copies, x);
    m.spend(copies);
  }
  static void dup_items(Machine& m) {
    if (!m.stacks[kInteger].size) return;
    Stack& s = m.stacks[S];
    const std::int64_t n = m.stacks[kInteger].pop().number;
    const std::int64_t copies = std::max<std::int64_t>(0, std::min({n, m.limits.points - s.size, s.size}));
    Item* place = s.extend(copies);
    if (copies) std::copy_n(place - copies, copies, place);
    m.spend(copies);
  }
  static void swap(Machine& m) {
    Stack& s = m.stacks[S];
    if (s.size >= 2) std::swap(s.top(0), s.top(1));
  }
  static void rot(Machine& m) {
    Stack& s = m.stacks[S];
    if (s.size < 3) return;
    const Item third = s.top(2);
    s.top(2) = s.top(1);
    s.top(1) = s.top(0);
    s.top(0) = third;
  }
  static void flush(Machine& m) { m.stacks[S].size = 0; }
  static void eq(Machine& m) {
    Stack& s = m.stacks[S];
    if (s.size < 2) return;
    const bool same = equal(m, s.top(0), s.top(1));
    s.drop(2);
    m.stacks[kBoolean].push(boolean(same));
  }
  static void stackdepth(Machine& m) { m.stacks[kInteger].push(integer(m.stacks[S].size)); }
  static std::int64_t depth_argument(Machine& m) {
    const std::int64_t n = m.stacks[kInteger].pop().number;
    return clamp_index(n, 0, m.stacks[S].size - 1);
  }
  static void yank(Machine& m) {
    if (!ready(m)) return;
    const std::int64_t depth = depth_argument(m);
    Item* top = &m.stacks[S].top();
    std::rotate(top - depth, top - depth + 1, top + 1);
    m.spend(depth);
  }
  static void yankdup(Machine& m) {
    if (!ready(m)) return;
    const std::int64_t depth = depth_argument(m);
    m.stacks[S].push(Item{m.stacks[S].top(depth)});
  }
  static void deepdup(Machine& m) {
    if (!ready(m)) return;
    const std::int64_t from_bottom = depth_argument(m);
    m.stacks[S].push(Item{m.stacks[S].top(m.stacks[S].size - 1 - from_bottom)});
  }
  static void shove(Machine& m) {
    if (!ready(m)) return;
    Stack& s = m.stacks[S];
    const std::int64_t n = m.stacks[kInteger].pop().number;
    const std::int64_t depth = clamp_index(n, 0, s.size - 1);
    Item* top = &s.top();
    std::rotate(top - depth, top, top + 1);
    m.spend(depth);
  }
  static void empty(Machine& m) { m.stacks[kBoolean].push(boolean(m.stacks[S].size == 0)); }
};

// Adds them; the numbers are the code blocks that pop, dup and dup_times, swap, rot and shove open.
template <StackId S>
void add_common(Table& table, int one = 0, int two = 0, int three = 0) {
  using Do = Common<S>;
  const std::string name = kStackNames[S];
  const std::string prefix = name + "_";
  table.add(prefix + "pop", {name}, Do::pop, one);
  table.add(prefix + "dup", {name}, Do::dup, one);
  table.add(prefix + "dup_times", {name, "integer"}, Do::dup_times, one);
  table.add(prefix + "dup_items", {name, "integer"}, Do::dup_items);
  table.add(prefix + "swap", {name}, Do::swap, two);
  table.add(prefix + "rot", {name}, Do::rot, three);
  table.add(prefix + "flush", {name}, Do::flush);
  table.add(prefix + "eq", {name, "boolean"}, Do::eq);
  table.add(prefix + "stackdepth", {name, "integer"}, Do::stackdepth);
  table.add(prefix + "yank", {name, "integer"}, Do::yank);
  table.add(prefix + "yankdup", {name, "integer"}, Do::yankdup);
  if (S < kVectorInteger) table.add(prefix + "deepdup", {name, "integer"}, Do::deepdup, 0, kM | kL);
  table.add(prefix + "shove", {name, "integer"}, Do::shove, one);
  table.add(prefix + "empty", {name, "boolean"}, Do::empty);
}

}  // namespace flexicase::push

// Instructions of the code stack that run code or look at lists from outside.
#include "push/common.hpp"
#include "push/machine.hpp"

namespace flexicase::push {
namespace {

Stack& code(Machine& m) { return m.stacks[kCode]; }
Stack& exec(Machine& m) { return m.stacks[kExec]; }
Stack& integers(Machine& m) { return m.stacks[kInteger]; }
void answer(Machine& m, bool value) { m.stacks[kBoolean].push(boolean(value)); }

void append(Machine& m) {
  Stack& s = code(m);
  if (s.size < 2) return;
  const Item x = as_list(m, s.top(0)), y = as_list(m, s.top(1));
  if (points(x) + points(y) - 1 > m.limits.points) return;
  Item* place = m.list_place(x.length + y.length);
  std::copy_n(y.items, y.length, place + 1);
  std::copy_n(x.items, x.length, place + 1 + y.length);
  const Item joined = m.seal(place, x.length + y.length);
  s.drop(1);
  s.top() = joined;
}
void atom(Machine& m) {
  if (code(m).size) answer(m, !is_list(code(m).pop()));
}
void car(Machine& m) {
  if (code(m).size && is_list(code(m).top()) && code(m).top().length) code(m).top() = Item{child(code(m).top(), 0)};
}
void cdr(Machine& m) {
  if (code(m).size) code(m).top() = without_first(m, code(m).top(), 1);
}
void cons(Machine& m) {
  Stack& s = code(m);
  if (s.size < 2) return;
  const Item x = as_list(m, s.top(0)), y = s.top(1);
  Item* place = m.list_place(x.length + 1);
  std::copy_n(x.items, x.length, place + 1);
  place[x.length + 1] = y;
  replace_if_fit(m, 2, m.seal(place, x.length + 1));
}
void list_pair(Machine& m) {
  if (code(m).size >= 2) replace_if_fit(m, 2, m.list(code(m).top(1), code(m).top(0)));
}
void wrap(Machine& m) {
  if (code(m).size) replace_if_fit(m, 1, m.list(code(m).top()));
}

void run_and_pop(Machine& m) {
  static const Item code_pop = instruction("code_pop");
  if (!code(m).size) return;
  exec(m).push(code_pop);
  exec(m).push(code(m).top());
}
void move_to_exec(Machine& m) {
  if (code(m).size) exec(m).push(code(m).pop());
}
const Item& quote() {
  static const Item item = instruction("code_quote");
  return item;
}
const Item& range_loop() {
  static const Item item = instruction("code_do*range");
  return item;
}
void do_range(Machine& m) {
  if (!code(m).size || integers(m).size < 2) return;
  const Item block = code(m).pop(), dest = integers(m).pop(), current = integers(m).pop();
  if (current.number != dest.number) {
    const std::int64_t next = current.number + (current.number < dest.number ? 1 : -1);
    exec(m).push(m.list(integer(next, current.flag), dest, quote(), block, range_loop()));
  }
  integers(m).push(current);
  exec(m).push(block);
}
void count(Machine& m, bool drop_counter) {
  static const Item integer_pop = instruction("integer_pop");
  if (!code(m).size || !integers(m).size || integers(m).top().number < 1) return;
  Item block = code(m).pop();
  const Item n = integers(m).pop();
  if (drop_counter) {
    const Item items = as_list(m, block);
    Item* place = m.list_place(items.length + 1);
    std::copy_n(items.items, items.length, place + 1);
    place[items.length + 1] = integer_pop;
    block = m.seal(place, items.length + 1);
  }
  exec(m).push(m.list(integer(0), integer(n.number - 1, n.flag), quote(), block, range_loop()));
}
void do_count(Machine& m) { count(m, false); }
void do_times(Machine& m) { count(m, true); }
void map(Machine& m) {
  static const Item code_wrap = instruction("code_wrap"), code_cons = instruction("code_cons");
  if (!code(m).size || !exec(m).size) return;
  const Item x = as_list(m, code(m).pop()), block = exec(m).pop();
  const std::uint32_t joins = x.length ? x.length - 1 : 0, length = x.length + 1 + joins;
  Item* place = m.list_place(length);
  std::fill_n(place + 1, joins, code_cons);
  place[joins + 1] = code_wrap;
  for (std::uint32_t i = 0; i < x.length; ++i) place[length - i] = m.list(quote(), child(x, i), block);
  exec(m).push(m.seal(place, length));
}
void quote_next(Machine& m) {
  if (exec(m).size) code(m).push(exec(m).pop());
}
void if_else(Machine& m) {
  if (code(m).size < 2 || !m.stacks[kBoolean].size) return;
  const Item x = code(m).pop(), y = code(m).pop();
  exec(m).push(m.stacks[kBoolean].pop().number ? y : x);
}
template <StackId S>
void from(Machine& m) {
  if (m.stacks[S].size) code(m).push(m.stacks[S].pop());
}
void length(Machine& m) {
  if (!code(m).size) return;
  const Item x = code(m).pop();
  integers(m).push(integer(is_list(x) ? x.length : 1));
}
void null(Machine& m) {
  if (!code(m).size) return;
  const Item x = code(m).pop();
  answer(m, is_list(x) && x.length == 0);
}
void size(Machine& m) {
  if (code(m).size) integers(m).push(integer(points(code(m).pop())));
}

}  // namespace

void add_code(Table& t) {
  add_common<kCode>(t);
  const auto own = [&](const char* name, Action action) { t.add(name, {"code"}, action); };
  own("code_noop", [](Machine&) {});
  own("code_append", append);
  own("code_car", car);
  own("code_cdr", cdr);
  own("code_cons", cons);
  own("code_list", list_pair);
  own("code_wrap", wrap);
  t.add("code_atom", {"code", "boolean"}, atom);
  t.add("code_null", {"code", "boolean"}, null);
  t.add("code_do", {"code", "exec"}, run_and_pop);
  t.add("code_do*", {"code", "exec"}, move_to_exec);
  t.add("code_do*range", {"code", "exec", "integer"}, do_range);
  t.add("code_do*count", {"code", "exec", "integer"}, do_count);
  t.add("code_do*times", {"code", "exec", "integer"}, do_times);
  t.add("code_map", {"code", "exec"}, map);
  t.add("code_fromboolean", {"code", "boolean"}, from<kBoolean>);
  t.add("code_fromfloat", {"code", "float"}, from<kFloat>);
  t.add("code_frominteger", {"code", "integer"}, from<kInteger>);
  t.add("code_quote", {"code", "exec"}, quote_next, 1);
  t.add("code_if", {"code", "exec", "boolean"}, if_else);
  t.add("code_length", {"code", "integer"}, length);
  t.add("code_size", {"code", "integer"}, size);
}

}  // namespace flexicase::push

// Instructions of the exec stack.
#include "push/common.hpp"

namespace flexicase::push {
namespace {

const Item& range_loop() {
  static const Item item = instruction("exec_do*range");
  return item;
}

void do_range(Machine& m) {
  Stack& exec = m.stacks[kExec];
  Stack& integers = m.stacks[kInteger];
  if (!exec.size || integers.size < 2) return;
  const Item block = exec.pop(), dest = integers.pop(), current = integers.pop();
  if (current.number != dest.number) {
    const std::int64_t next = current.number + (current.number < dest.number ? 1 : -1);
    exec.push(m.list(integer(next, current.flag), dest, range_loop(), block));
  }
  integers.push(current);
  exec.push(block);
}

void count(Machine& m, bool drop_counter) {
  Stack& exec = m.stacks[kExec];
  Stack& integers = m.stacks[kInteger];
  if (!exec.size || !integers.size || integers.top().number < 1) return;
  Item block = exec.pop();
  const Item n = integers.pop();
  if (drop_counter) {
    static const Item integer_pop = instruction("integer_pop");
    const std::uint32_t length = is_list(block) ? block.length : 1;
    Item* place = m.list_place(length + 1);
    if (is_list(block)) {
      std::copy_n(block.items, length, place + 1);
    } else {
      place[1] = block;
    }
    place[length + 1] = integer_pop;
    block = m.seal(place, length + 1);
  }
  exec.push(m.list(integer(0), integer(n.number - 1, n.flag), range_loop(), block));
}
void do_count(Machine& m) { count(m, false); }
void do_times(Machine& m) { count(m, true); }

void again(Machine& m) {
  static const Item loop = instruction("exec_while");
  const Item block = m.stacks[kExec].top();
  m.stacks[kExec].push(loop);
  m.stacks[kExec].push(block);
}
void do_while(Machine& m) {
  if (m.stacks[kExec].size) again(m);
}
void while_loop(Machine& m) {
  if (!m.stacks[kExec].size) return;
  Stack& booleans = m.stacks[kBoolean];
  if (booleans.size && booleans.pop().number) {
    again(m);
  } else {
    m.stacks[kExec].drop(1);
  }
}
void if_else(Machine& m) {
  Stack& exec = m.stacks[kExec];
  if (exec.size < 2 || !m.stacks[kBoolean].size) return;
  const Item first = exec.pop();
  if (m.stacks[kBoolean].pop().number) exec.top() = first;
}
void when(Machine& m) {
  if (!m.stacks[kExec].size || !m.stacks[kBoolean].size) return;
  if (!m.stacks[kBoolean].pop().number) m.stacks[kExec].drop(1);
}
void k(Machine& m) {
  Stack& exec = m.stacks[kExec];
  if (exec.size < 2) return;
  const Item first = exec.pop();
  exec.top() = first;
}
bool fits(Machine& m, const Item& list) { return points(list) <= m.limits.points && height(list) <= kMaxHeight; }
void s(Machine& m) {
  Stack& exec = m.stacks[kExec];
  if (exec.size < 3) return;
  const Item x = exec.top(0), y = exec.top(1), z = exec.top(2);
  const Item both = m.list(y, z);
  if (!fits(m, both)) return;
  exec.top(2) = both;
  exec.top(1) = z;
  exec.top(0) = x;
}
void y(Machine& m) {
  static const Item self = instruction("exec_y");
  Stack& exec = m.stacks[kExec];
  if (!exec.size) return;
  const Item x = exec.top();
  const Item again = m.list(self, x);
  if (!fits(m, again)) return;
  exec.top() = again;
  exec.push(x);
}
void string_iterate(Machine& m) {
  static const Item self = instruction("exec_string_iterate");
  Stack& exec = m.stacks[kExec];
  if (!exec.size || !m.stacks[kString].size) return;
  const Item text = m.stacks[kString].pop();
  if (text.length == 0) return exec.drop(1);
  m.stacks[kChar].push(character(text.text[0]));
  if (text.length == 1) return;
  const Item block = exec.top();
  exec.push(self);
  exec.push(string(text.text + 1, text.length - 1));
  exec.push(block);
}

}  // namespace

void add_exec(Table& t) {
  add_common<kExec>(t, 1, 2, 3);
  t.add("exec_noop", {"exec"}, [](Machine&) {});
  t.add("exec_do*range", {"exec", "integer"}, do_range, 1);
  t.add("exec_do*count", {"exec", "integer"}, do_count, 1);
  t.add("exec_do*times", {"exec", "integer"}, do_times, 1);
  t.add("exec_while", {"exec", "boolean"}, while_loop, 1);
  t.add("exec_do*while", {"exec", "boolean"}, do_while, 1);
  t.add("exec_if", {"exec", "boolean"}, if_else, 2);
  t.add("exec_when", {"exec", "boolean"}, when, 1);
  t.add("exec_k", {"exec"}, k, 2);
  t.add("exec_s", {"exec"}, s, 3);
  t.add("exec_y", {"exec"}, y, 1);
  t.add("exec_string_iterate", {"string", "char", "exec"}, string_iterate, 1);
  t.add("noop_open_paren", {"parentheses"}, [](Machine&) {}, 1, kNone);
  t.add("noop_delete_prev_paren_pair", {"parentheses"}, [](Machine&) {}, 0, kNone);
}

}  // namespace flexicase::push

// Instructions of the code stack that search and change code.
#include "push/machine.hpp"
#include "push/table.hpp"

namespace flexicase::push {
namespace {

Stack& code(Machine& m) { return m.stacks[kCode]; }
Stack& integers(Machine& m) { return m.stacks[kInteger]; }

// |n| mod size.
std::int64_t index_of(std::int64_t n, std::int64_t size) {
  const Wide value = n;
  return static_cast<std::int64_t>((value < 0 ? -value : value) % size);
}
// False and nil are never found in a list.
bool never_found(const Item& item) {
  return item.kind == Kind::nil || (item.kind == Kind::boolean && item.number == 0);
}
std::int64_t position_in(Machine& m, const Item& list, const Item& item) {
  if (never_found(item)) return -1;
  m.spend(4 * std::int64_t{list.length});
  for (std::uint32_t i = 0; i < list.length; ++i) {
    if (equal(m, child(list, i), item, true)) return i;
  }
  return -1;
}

void member(Machine& m) {
  if (code(m).size < 2) return;
  const Item x = as_list(m, code(m).pop()), y = code(m).pop();
  m.stacks[kBoolean].push(boolean(position_in(m, x, y) >= 0));
}
void position(Machine& m) {
  if (code(m).size < 2) return;
  const Item x = as_list(m, code(m).pop()), y = code(m).pop();
  integers(m).push(integer(position_in(m, x, y)));
}
void nth(Machine& m) {
  if (!code(m).size || !integers(m).size) return;
  const Item x = as_list(m, code(m).top());
  if (!x.length) return;
  code(m).top() = Item{child(x, static_cast<std::uint32_t>(index_of(integers(m).pop().number, x.length)))};
}
void nthcdr(Machine& m) {
  if (!code(m).size || !integers(m).size) return;
  const Item x = as_list(m, code(m).top());
  if (!x.length) return;
  code(m).top() = without_first(m, x, static_cast<std::uint32_t>(index_of(integers(m).pop().number, x.length)));
}
void extract(Machine& m) {
  if (!code(m).size || !integers(m).size) return;
  const Item x = code(m).top();
  code(m).top() = subtree(x, index_of(integers(m).pop().number, points(x)));
}
void insert(Machine& m) {
  if (code(m).size < 2 || !integers(m).size) return;
  const Item x = code(m).top(0), y = code(m).top(1);
  const Item changed = with_subtree(m, x, index_of(integers(m).top().number, points(x)), y);
  if (replace_if_fit(m, 2, changed)) integers(m).drop(1);
}
void subst(Machine& m) {
  if (code(m).size < 3) return;
  bool changed = false;
  const Item x = code(m).top(0), y = code(m).top(1), z = code(m).top(2);
  replace_if_fit(m, 3, substituted(m, x, y, z, changed));
}
void contains(Machine& m) {
  if (code(m).size < 2) return;
  const Item x = code(m).pop(), y = code(m).pop();
  bool found = false;
  substituted(m, y, x, x, found);
  m.stacks[kBoolean].push(boolean(found));
}
void container_of(Machine& m) {
  if (code(m).size < 2) return;
  const Item x = code(m).pop(), y = code(m).pop();
  code(m).push(never_found(y) ? make(Kind::nil) : container(m, x, y));
}

}  // namespace

void add_code_trees(Table& t) {
  t.add("code_member", {"code", "boolean"}, member);
  t.add("code_position", {"code", "integer"}, position);
  t.add("code_nth", {"code", "integer"}, nth);
  t.add("code_nthcdr", {"code", "integer"}, nthcdr);
  t.add("code_extract", {"code", "integer"}, extract);
  t.add("code_insert", {"code", "integer"}, insert);
  t.add("code_subst", {"code"}, subst);
  t.add("code_contains", {"code", "boolean"}, contains);
  t.add("code_container", {"code"}, container_of);
}

}  // namespace flexicase::push

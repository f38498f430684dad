#include <algorithm>

#include "push/machine.hpp"

namespace flexicase::push {

Item as_list(Machine& m, const Item& item) { return is_list(item) ? item : m.list(item); }

Item without_first(Machine& m, const Item& list, std::uint32_t count) {
  const std::uint32_t length = is_list(list) && list.length > count ? list.length - count : 0;
  Item* place = m.list_place(length);
  if (length) std::copy_n(list.items, length, place + 1);
  return m.seal(place, length);
}

bool replace_if_fit(Machine& m, std::int64_t taken, const Item& code) {
  if (points(code) > m.limits.points || height(code) > kMaxHeight) return false;
  m.stacks[kCode].drop(taken);
  m.stacks[kCode].push(code);
  return true;
}

Item subtree(const Item& tree, std::int64_t index) {
  Item at = tree;
  while (index > 0) {
    --index;
    std::uint32_t i = 0;
    while (index >= points(child(at, i))) index -= points(child(at, i++));
    at = Item{child(at, i)};
  }
  return at;
}

Item with_subtree(Machine& m, const Item& tree, std::int64_t index, const Item& replacement) {
  const std::size_t floor = m.pairs.size();
  Item at = tree;
  while (index > 0) {
    --index;
    std::uint32_t i = 0;
    while (index >= points(child(at, i))) index -= points(child(at, i++));
    m.pairs.emplace_back(at, integer(i));
    at = Item{child(at, i)};
  }
  Item result = replacement;
  while (m.pairs.size() > floor) {
    const auto [parent, place_of_child] = m.pairs.back();
    m.pairs.pop_back();
    Item* place = m.list_place(parent.length);
    std::copy_n(parent.items, parent.length, place + 1);
    place[parent.length - place_of_child.number] = result;
    result = m.seal(place, parent.length);
  }
  return result;
}

namespace {

// Makes the list of the last items built.
Item rebuilt(Machine& m, std::uint32_t length) {
  const Item* from = m.built.data() + m.built.size() - length;
  Item* place = m.list_place(length);
  std::reverse_copy(from, from + length, place + 1);
  return m.seal(place, length);
}

}  // namespace

Item substituted(Machine& m, const Item& tree, const Item& old, const Item& fresh, bool& changed) {
  m.pending.clear();
  m.built.clear();
  const auto finish = [&](const Item& item) {
    const bool same = equal(m, item, old);
    changed |= same;
    m.built.push_back(same ? fresh : item);
  };
  // A pending pair is a list and the number of its items that were visited; vectors are not looked into.
  const auto open = [&](const Item& item) {
    m.pending.push_back(item);
    m.pending.push_back(integer(0));
  };
  if (!is_list(tree)) {
    finish(tree);
    return m.built.back();
  }
  open(tree);
  while (!m.pending.empty()) {
    const Item node = m.pending[m.pending.size() - 2];
    const std::int64_t i = m.pending.back().number++;
    m.spend(10);
    if (i < node.length) {
      const Item next = child(node, static_cast<std::uint32_t>(i));
      if (is_list(next)) {
        open(next);
      } else {
        finish(next);
      }
      continue;
    }
    m.pending.resize(m.pending.size() - 2);
    const Item made = node.length ? rebuilt(m, node.length) : node;
    m.built.resize(m.built.size() - node.length);
    finish(made);
  }
  return m.built.back();
}

Item container(Machine& m, const Item& tree, const Item& item) {
  m.pending.clear();
  m.pending.push_back(tree);
  while (!m.pending.empty()) {
    const Item node = m.pending.back();
    m.pending.pop_back();
    if (!is_list(node)) continue;
    m.spend(4 * std::int64_t{node.length});
    for (std::uint32_t i = 0; i < node.length; ++i) {
      if (equal(m, child(node, i), item, true)) return node;
    }
    for (std::uint32_t i = node.length; i-- > 0;) {
      if (is_list(child(node, i))) m.pending.push_back(child(node, i));
    }
  }
  return make(Kind::nil);
}

}  // namespace flexicase::push

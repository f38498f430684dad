// Code as trees. Nothing here recurses: open lists wait in the machine's own memory.
#pragma once

#include "push/machine.hpp"

namespace flexicase::push {

// A list itself; anything else as a list of one item.
Item as_list(Machine& m, const Item& item);
// A list without its first `count` items; nothing is left of an atom.
Item without_first(Machine& m, const Item& list, std::uint32_t count);
// Puts code in the place of the top `taken` items of the code stack, unless it is too large or too deep.
bool replace_if_fit(Machine& m, std::int64_t taken, const Item& code);
// The sub-tree at a depth-first index; 0 is the tree itself.
Item subtree(const Item& tree, std::int64_t index);
// The tree with the sub-tree at that index replaced.
Item with_subtree(Machine& m, const Item& tree, std::int64_t index, const Item& replacement);
// The tree with every occurrence of `old`, from the leaves up, replaced; `changed` says whether there was one.
Item substituted(Machine& m, const Item& tree, const Item& old, const Item& fresh, bool& changed);
// The first list, in depth-first order, that has the item directly in it; nil if none.
Item container(Machine& m, const Item& tree, const Item& item);

}  // namespace flexicase::push

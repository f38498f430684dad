// A program as a sequence: items, and parentheses that open and close.
#pragma once

#include <cstdint>
#include <vector>

#include "push/machine.hpp"

namespace flexicase::push {

enum class Mark : std::uint8_t { item, open, close };

struct Token {
  Mark mark;
  Item item;
};
using Tokens = std::vector<Token>;

// The tokens of a list.
Tokens tokens_of(const Item& list);
// The list of tokens, with all its memory in `arena`.
Item gathered(const Tokens& tokens, Arena& arena);

}  // namespace flexicase::push

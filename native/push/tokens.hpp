// A program as a sequence: items, and parentheses that open and close.
#pragma once

#include <cstdint>

#include "push/item.hpp"

namespace flexicase::push {

enum class Mark : std::uint8_t { item, open, close };

struct Token {
  Mark mark;
  Item item;
};

}  // namespace flexicase::push

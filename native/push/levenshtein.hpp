// Insertions, deletions and substitutions between two sequences.
#pragma once

#include <cstdint>
#include <string_view>

#include "push/machine.hpp"

namespace flexicase::push {

// Between two texts; the second one should be the shorter.
std::uint32_t levenshtein(Machine& m, std::u16string_view text, std::u16string_view pattern);
// Between two vectors.
std::uint32_t levenshtein(Machine& m, const Item& vector, const Item& pattern);

}  // namespace flexicase::push

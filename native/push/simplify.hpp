// Smaller versions of a program.
#pragma once

#include "flexicase/rng.hpp"
#include "push/genome.hpp"

namespace flexicase::push {

// A program with one or two points deleted, or with one pair of parentheses removed; what is kept is copied to `arena`.
// Removing parentheses also puts the elements of vectors in the place of the vectors.
Item smaller(const Item& program, Stream& stream, Arena& arena);

}  // namespace flexicase::push

// Bits of a word.
#pragma once

#include <cstdint>

#include "flexicase/rng.hpp"

namespace flexicase {

// How many bits are set, without a call where the processor may lack the instruction.
FX_INLINE int count_ones(std::uint64_t x) {
#if defined(__x86_64__) && !defined(__POPCNT__)
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<int>(x * 0x0101010101010101u >> 56);
#else
  return __builtin_popcountll(x);
#endif
}

// How many bits are set in some words.
FX_INLINE std::int64_t count_ones(const std::uint64_t* words, std::int64_t n) {
  std::int64_t sum = 0;
  for (std::int64_t w = 0; w < n; ++w) sum += count_ones(words[w]);
  return sum;
}

// Position of the lowest bit that is set; one must be.
FX_INLINE int lowest_bit(std::uint64_t x) { return __builtin_ctzll(x); }

}  // namespace flexicase

// Random streams: counter-based, one per (key, event, lane). The Python twin is flexicase/rng.py.
#pragma once

#if __SIZEOF_POINTER__ != 8
#error "flexicase needs a 64-bit platform"
#endif

#include <cstdint>

// Code that is compiled once per instruction set must not be shared between the copies by the
// linker, so everything in the headers they include is inlined or local.
#define FX_INLINE [[gnu::always_inline]] static inline

namespace flexicase {

inline constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;
inline constexpr std::uint64_t lane_step = 0xD1B54A32D192ED03u;

enum class Lane : std::uint64_t {
  pick = 1,
  head = 2,
  keys = 3,
  low_bits = 4,
  ranked = 5,
  depth = 6,
  slippage = 7,
  sample = 8,
  baseline = 9,
  genesis = 10,
  pipelines = 11,
  variation = 12,
  simplification = 13,
};

struct Key {
  std::uint64_t k0;
  std::uint64_t k1;
};

FX_INLINE std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

FX_INLINE std::uint64_t event_state(Key key, std::uint64_t event) {
  return mix64(key.k0 + mix64(key.k1 + event * golden));
}

FX_INLINE std::uint64_t lane_state(std::uint64_t state, Lane lane) {
  return mix64(state + static_cast<std::uint64_t>(lane) * lane_step);
}

// The draws of one lane, in sequence.
struct Stream {
  std::uint64_t state;

  [[gnu::always_inline]] std::uint64_t word() { return mix64(state += golden); }

  [[gnu::always_inline]] double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }

  // Uniform on 0 … n-1 without bias (Lemire, TOMACS 2019).
  [[gnu::always_inline]] std::uint64_t bounded(std::uint64_t n) {
    __extension__ using u128 = unsigned __int128;
    u128 product = static_cast<u128>(word()) * n;
    if (static_cast<std::uint64_t>(product) < n) [[unlikely]] {
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<u128>(word()) * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // The same for n < 2^32 from 32 bits that were drawn already; draws more only to avoid bias.
  [[gnu::always_inline]] std::uint32_t bounded32(std::uint32_t bits, std::uint32_t n) {
    std::uint64_t product = std::uint64_t{bits} * n;
    if (static_cast<std::uint32_t>(product) < n) [[unlikely]] {
      const std::uint32_t threshold = (0 - n) % n;
      while (static_cast<std::uint32_t>(product) < threshold) product = (word() & 0xFFFFFFFFu) * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
};

// Sort key of one case: a bijection of the case number, keyed by a lane's state.
FX_INLINE std::uint32_t case_key(std::uint64_t lane, std::uint32_t c) {
  std::uint32_t x = c * 0x9E3779B1u + static_cast<std::uint32_t>(lane);
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= static_cast<std::uint32_t>(lane >> 32);
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ (x >> 16);
}

}  // namespace flexicase

// Order cursors: the cases of one event in order, drawn only as far as they are needed.
//
// The head of a uniform or weighted order is drawn case by case; the tail is sorted by a key per
// case. The cursor looks at a window of the smallest keys first and at larger windows only if that
// one is used up.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

// Hands out carved pieces of a scratch block, each aligned to a cache line.
struct ScratchSpace {
  std::byte* at;
  template <class T>
  T* take(i64 count) {
    T* piece = reinterpret_cast<T*>(at);
    at += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
};

FX_INLINE i64 padded(i64 n) { return (n + 31) / 32 * 32; }

// The cases of a window, smallest key first. Cases are added in ascending order; equal keys keep it.
// Windows of at most 16 are searched for the least key at each call (integers) or sorted by counting
// (doubles); larger ones are kept as a heap.
template <class K>
class Window {
 public:
  static constexpr K none = std::numeric_limits<K>::max();

  void take_from(ScratchSpace& space, i64 n) {
    keys_ = space.take<K>(padded(n) + small);
    cases_ = space.take<i32>(padded(n) + small);
  }

  static std::size_t scratch(i64 n) { return static_cast<std::size_t>(padded(n) + small) * (sizeof(K) + 4) + 128; }

  [[gnu::always_inline]] void clear() { size_ = at_ = 0; }

  [[gnu::always_inline]] void add(K key, i32 c) {
    keys_[size_] = key;
    cases_[size_] = c;
    ++size_;
  }

  [[gnu::always_inline]] bool empty() const { return at_ == size_; }

  // Call after the last `add`. A window with a key equal to `none` must be a heap.
  [[gnu::always_inline]] void close(bool heap) {
    heaped_ = heap || size_ > small;
    if (heaped_) {
      for (i64 i = size_ / 2; i-- > 0;) sift(i);
    } else if constexpr (std::is_floating_point_v<K>) {
      sort_by_counting<small>(
          static_cast<int>(size_), [&](int i) { return keys_[i]; },
          [&](int slot, int i) { sorted_[slot] = cases_[i]; });
    } else {
      for (int i = 0; i < small; ++i) lanes_[i] = i < size_ ? keys_[i] : none;
    }
  }

  [[gnu::always_inline]] i32 pop() {
    if (heaped_) return pop_heap();
    if constexpr (std::is_floating_point_v<K>) return sorted_[at_++];
    ++at_;
    return cases_[take_least(lanes_)];
  }

 private:
  static constexpr int small = 16;

  i32 pop_heap() {
    const i32 top = cases_[0];
    --size_;
    keys_[0] = keys_[size_];
    cases_[0] = cases_[size_];
    sift(0);
    return top;
  }

  bool before(i64 a, i64 b) const { return keys_[a] < keys_[b] || (keys_[a] == keys_[b] && cases_[a] < cases_[b]); }

  void sift(i64 i) {
    for (;;) {
      i64 child = 2 * i + 1;
      if (child >= size_) return;
      if (child + 1 < size_ && before(child + 1, child)) ++child;
      if (!before(child, i)) return;
      const K k = keys_[i];
      keys_[i] = keys_[child];
      keys_[child] = k;
      const i32 c = cases_[i];
      cases_[i] = cases_[child];
      cases_[child] = c;
      i = child;
    }
  }

  K* keys_ = nullptr;
  i32* cases_ = nullptr;
  alignas(64) u32 lanes_[small];
  i32 sorted_[small];
  i64 size_ = 0;
  i64 at_ = 0;
  bool heaped_ = false;
};

// Keys of all cases of an event, in whole vectors; those past the end are the largest. Calls
// found(c) for every case with a key below a limit.
template <class Found>
FX_INLINE void fill_keys(u64 lane, i64 cases, u32* __restrict keys, u32 limit, Found&& found) {
  for (i64 c = 0; c < cases; c += 64) {
    u64 mask = 0;
    const i64 wide = cases - c < 64 ? cases - c : 64;
    for (i64 part = 0; part < wide; part += 16) {
      mask |= u64{case_keys16(lane, static_cast<u32>(c + part), limit, keys + c + part)} << part;
    }
    if (wide < 64) mask &= (u64{1} << wide) - 1;
    for (; mask != 0; mask &= mask - 1) found(c + lowest_bit(mask));
  }
  for (i64 c = cases; c < (cases + 15) / 16 * 16; ++c) keys[c] = 0xFFFFFFFFu;
}

// The first cases of an order: up to 16 different ones from up to 24 spins.
struct Head {
  alignas(64) i32 cases[head_cases];
  int size = 0;
  int spins = 0;

  [[gnu::always_inline]] i32 start(i32 c) {
    cases[0] = c;
    size = spins = 1;
    return c;
  }

  [[gnu::always_inline]] bool has(i32 c) const {
    bool found = false;
    for (int i = 0; i < head_cases; ++i) found |= (cases[i] == c) & (i < size);
    return found;
  }

  // Spins until a new case comes up; -1 if the head is complete.
  template <class Spin>
  [[gnu::always_inline]] i32 next(i64 total, Spin&& spin) {
    while (!complete(total)) {
      ++spins;
      const i32 c = spin();
      if (has(c)) continue;
      cases[size++] = c;
      return c;
    }
    return -1;
  }

  [[gnu::always_inline]] bool complete(i64 total) const {
    return spins == head_spins || size == head_cases || size == total;
  }
};

}  // namespace flexicase::FX_ISA

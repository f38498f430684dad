// Uniformly random order.
#pragma once

#include <cstddef>

#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"
#include "select/isa/order.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {
namespace {

struct UniformCursor {
  static constexpr bool keyed = true;
  static constexpr u32 no_key = Window<u32>::none;  // a real key too, once in 2^32 cases
  const OrderPlan* plan;
  u32* keys;
  Window<u32> window;
  Head head;
  u64 state = 0;
  Stream spins{0};
  bool filled = false;
  bool last_window = false;
  u32 low = 0;
  u32 width = 0;

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 32) * 4 + Window<u32>::scratch(p.cases);
  }

  UniformCursor(const OrderPlan& p, ScratchSpace& space) : plan(&p) {
    keys = space.take<u32>(padded(p.cases));
    window.take_from(space, p.cases);
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    state = event;
    spins.state = lane_state(state, Lane::head);
    filled = false;
    window.clear();
    return head.start(spin());
  }

  // The next case; -1 when there are none.
  [[gnu::always_inline]] i32 next() {
    const i32 c = head.next(plan->cases, [&] { return spin(); });
    if (c >= 0) return c;
    while (window.empty()) {
      if (!advance()) return -1;
    }
    return window.pop();
  }

  // Whether the next case would come from a new window of the tail.
  [[gnu::always_inline]] bool window_used_up() const { return head.complete(plan->cases) && window.empty(); }

  // The next case, in order, of those marked (all of them in the tail and still to come), and its
  // position in the order; -1 if that is left to walking.
  [[gnu::always_inline]] i32 jump(const u64* marks, bool counts, i64* position) {
    const u64 lane = lane_state(state, Lane::keys);
    u64 least = ~u64{0};
    for (i64 c = 0; c < plan->cases; c += 64) {
      for (u64 bits = marks[c / 64]; bits != 0; bits &= bits - 1) {
        const u64 at = static_cast<u64>(c + lowest_bit(bits));
        const u64 entry = u64{case_key(lane, static_cast<u32>(at))} << 32 | at;
        least = entry < least ? entry : least;
      }
    }
    if (counts) {
      const u32 key = static_cast<u32>(least >> 32);
      i64 earlier = 0;
      for (i64 c = 0; c < plan->cases; ++c) earlier += case_key(lane, static_cast<u32>(c)) < key;
      for (int i = 0; i < head.size; ++i) earlier -= case_key(lane, static_cast<u32>(head.cases[i])) < key;
      *position = head.size + earlier;
    }
    return static_cast<i32>(least & 0xFFFFFFFFu);
  }

  void finish() {}

 private:
  [[gnu::always_inline]] i32 spin() { return static_cast<i32>(spins.bounded(static_cast<u64>(plan->cases))); }

  // Makes the keys, and the first window from the smallest of them.
  void fill() {
    constexpr u64 expected = 12;
    const u64 wanted = (expected << 32) / static_cast<u64>(plan->cases);
    filled = true;
    low = 0;
    last_window = wanted >= no_key;
    width = last_window ? no_key : static_cast<u32>(wanted);
    window.clear();
    fill_keys(lane_state(state, Lane::keys), plan->cases, keys, width, [&](i64 c) {
      if (!head.has(static_cast<i32>(c))) window.add(keys[c], static_cast<i32>(c));
    });
    for (int i = 0; i < head.size; ++i) keys[head.cases[i]] = no_key;
    close();
  }

  bool advance() {
    if (!filled) {
      fill();
      return true;
    }
    if (last_window) return false;
    low += width;
    const u64 wider = u64{width} * 4;
    last_window = low + wider >= no_key;
    width = last_window ? no_key - low : static_cast<u32>(wider);
    window.clear();
    for (i64 c = 0; c < plan->cases; c += 16) {
      for (u32 mask = keys_within16(keys + c, low, width); mask != 0; mask &= mask - 1) {
        const i64 at = c + lowest_bit(mask);
        window.add(keys[at], static_cast<i32>(at));
      }
    }
    close();
    return true;
  }

  [[gnu::always_inline]] void close() {
    bool largest = false;
    for (i64 c = 0; c < plan->cases && last_window; ++c) {
      if (keys[c] != no_key || head.has(static_cast<i32>(c))) continue;
      window.add(no_key, static_cast<i32>(c));
      largest = true;
    }
    window.close(largest);
  }
};

}  // namespace
}  // namespace flexicase::FX_ISA

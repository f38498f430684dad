// Weighted shuffle: a roulette wheel for the head, a race of exponential clocks for the tail.
#pragma once

#include <cstddef>

#include "flexicase/normals.hpp"
#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"
#include "select/isa/order.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {
namespace {

struct WeightedCursor {
  static constexpr bool keyed = true;
  static constexpr int all_levels = window_levels + 2;  // then all positive weights, then weight 0
  static constexpr i64 batch = 16;
  const OrderPlan* plan;
  u32* keys;
  Window<double> window;
  Head head;
  u64 state = 0;
  Stream spins{0};
  u64 key_lane = 0;
  u64 low_lane = 0;
  bool filled = false;
  int level = 0;

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 32) * 4 + Window<double>::scratch(p.cases);
  }

  WeightedCursor(const OrderPlan& p, ScratchSpace& space) : plan(&p) {
    keys = space.take<u32>(padded(p.cases));
    window.take_from(space, p.cases);
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    state = event;
    spins.state = lane_state(state, Lane::head);
    key_lane = lane_state(state, Lane::keys);
    low_lane = lane_state(state, Lane::low_bits);
    filled = false;
    level = 0;
    window.clear();
    return head.start(spin());
  }

  [[gnu::always_inline]] i32 next() {
    const i32 c = head.next(plan->cases, [&] { return spin(); });
    if (c >= 0) return c;
    while (window.empty()) {
      if (level == all_levels) return -1;
      advance();
    }
    return window.pop();
  }

  [[gnu::always_inline]] bool window_used_up() const { return head.complete(plan->cases) && window.empty(); }

  [[gnu::always_inline]] i32 jump(const u64* marks, bool counts, i64* position) {
    constexpr i64 most = 64;
    const i64 n = plan->cases;
    i64 marked = 0;
    for (i64 c = 0; c < n; c += 64) marked += count_ones(marks[c / 64]);
    if (marked > most) return -1;
    i64 found = -1;
    double earliest = infinity;
    for (i64 start = 0; start < n; start += 64) {
      for (u64 bits = marks[start / 64]; bits != 0; bits &= bits - 1) {
        const i64 c = start + lowest_bit(bits);
        const double t = clock(c);  // infinite for weight 0
        if (t < earliest) {
          earliest = t;
          found = c;
        }
      }
    }
    if (found >= 0 && counts) {
      const auto is_earlier = [&](i64 c) {
        const double t = clock(c);
        return t < earliest || (t == earliest && c < found);
      };
      i64 earlier = 0;
      for (i64 c = 0; c < n; ++c) earlier += is_earlier(c);
      for (int i = 0; i < head.size; ++i) earlier -= is_earlier(head.cases[i]);
      *position = head.size + earlier;
    }
    return static_cast<i32>(found);
  }

  void finish() {}

 private:
  // The case on which the wheel stops: the first whose running sum of weights exceeds the spin.
  [[gnu::always_inline]] i32 spin() {
    const double u = spins.unit();
    const double at = u * plan->wheel[plan->cases - 1];
    i32 c = plan->guide[static_cast<i64>(u * static_cast<double>(plan->guides))];
    while (plan->wheel[c] <= at) ++c;
    return c;
  }

  [[gnu::always_inline]] void fill() {
    fill_keys(key_lane, plan->cases, keys, 0, [](i64) {});
    filled = true;
  }

  // When a case's clock rings.
  [[gnu::always_inline]] double clock(i64 c) const {
    const auto at = static_cast<u32>(c);
    return exponential_of_keys(case_key(key_lane, at), case_key(low_lane, at)) / plan->weights[c];
  }

  // Adds those of some cases whose clocks ring from one time on and before another.
  [[gnu::noinline]] void add_ringing(const i32* cases, i64 count, double from, double to) {
    double times[batch];
    for (i64 i = 0; i < count; ++i) times[i] = clock(cases[i]);
    for (i64 i = 0; i < count; ++i) {
      if (times[i] >= from && times[i] < to) window.add(times[i], cases[i]);
    }
  }

  void advance() {
    if (!filled) fill();
    window.clear();
    const i64 n = plan->cases;
    const double from = level == 0 ? 0.0 : plan->horizon[(level < window_levels ? level : window_levels) - 1];
    const double to = level < window_levels ? plan->horizon[level] : infinity;
    i32 pending[batch];
    i64 count = 0;
    const auto consider = [&](i64 c) {
      pending[count++] = static_cast<i32>(c);
      if (count < batch) return;
      add_ringing(pending, count, from, to);
      count = 0;
    };
    if (level < window_levels) {
      const u32* reachable = plan->reachable[level];
      for (i64 c = 0; c < n; c += 16) {
        for (u32 mask = keys_up_to16(keys + c, reachable + c); mask != 0; mask &= mask - 1) {
          const i64 at = c + lowest_bit(mask);
          if (at < n && !head.has(static_cast<i32>(at))) consider(at);
        }
      }
    } else if (level == window_levels) {
      for (i64 c = 0; c < n; ++c) {
        if (plan->weights[c] > 0.0 && !head.has(static_cast<i32>(c))) consider(c);
      }
    } else {  // cases of weight 0 come last, in the order of their keys
      for (i64 c = 0; c < n; ++c) {
        if (plan->weights[c] == 0.0) window.add(static_cast<double>(keys[c]), static_cast<i32>(c));
      }
    }
    add_ringing(pending, count, from, to);
    window.close(false);
    ++level;
  }
};

}  // namespace
}  // namespace flexicase::FX_ISA

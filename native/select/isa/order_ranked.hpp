// Ranked shuffle: for every case, draws an upper bound and then a rank up to it.
#pragma once

#include <cstddef>

#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"
#include "select/isa/order.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {
namespace {

struct RankedCursor {
  static constexpr bool keyed = false;
  const OrderPlan* plan;
  i64 words;
  u64* left;       // (words,) ranks that remain
  i32* before;     // (words, in whole blocks) how many of them are in earlier words
  i32* cases;      // (cases,) like by_rank, with the cases used up moved behind among those of equal weight
  i32* tied_left;  // (cases,) like tie_size
  i32* log_rank;   // (cases,) what was taken, to be put back
  i32* log_swap;   // (cases,)
  i64 taken = 0;
  Stream stream{0};

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 64) * 16 + static_cast<std::size_t>(p.cases / 64 + 32) * 12 +
           1024;
  }

  RankedCursor(const OrderPlan& p, ScratchSpace& space) : plan(&p), words((p.cases + 63) / 64) {
    left = space.take<u64>(words);
    before = space.take<i32>(whole_blocks());
    cases = space.take<i32>(p.cases);
    tied_left = space.take<i32>(p.cases);
    log_rank = space.take<i32>(p.cases);
    log_swap = space.take<i32>(p.cases);
    put_back_all();
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    stream.state = lane_state(event, Lane::ranked);
    taken = 0;
    return next();
  }

  [[gnu::always_inline]] i32 next() {
    const i64 remaining = plan->cases - taken;
    if (remaining == 0) return -1;
    const i64 rank = take(static_cast<i32>(draw_position(static_cast<u32>(remaining))));
    const i32 start = plan->tie_start[rank];
    const i32 size = tied_left[start]--;
    const i32 swap = start + (size > 1 ? static_cast<i32>(stream.bounded(static_cast<u64>(size))) : 0);
    const i32 end = start + size - 1;
    const i32 c = cases[swap];
    cases[swap] = cases[end];
    cases[end] = c;
    log_rank[taken] = static_cast<i32>(rank);
    log_swap[taken] = swap;
    ++taken;
    return c;
  }

  [[gnu::always_inline]] bool window_used_up() const { return false; }

  [[gnu::always_inline]] i32 jump(const u64*, bool, i64*) { return -1; }

  [[gnu::always_inline]] void finish() {
    if (taken > 16 && taken > plan->cases / 32) put_back_all();
    while (taken > 0) {
      --taken;
      const i64 rank = log_rank[taken];
      const i32 start = plan->tie_start[rank];
      const i32 end = start + tied_left[start]++;
      const i32 swap = log_swap[taken];
      const i32 c = cases[end];
      cases[end] = cases[swap];
      cases[swap] = c;
      left[rank / 64] |= u64{1} << (rank % 64);
    }
    count_all_before();
  }

 private:
  static constexpr i64 few_words = 4;
  static constexpr i64 block = 16;

  i64 whole_blocks() const { return (words + block - 1) / block * block; }

  // Takes out the rank at a position of those that remain. Many words are all compared with the position,
  // because a search would end where no processor can foresee it.
  [[gnu::always_inline]] i64 take(i32 position) {
    i64 w = 0;
    if (words <= few_words) {
      for (int here; (here = count_ones(left[w])) <= position; ++w) position -= here;
    } else {
      w = -1;
      for (i64 start = 0; start < words; start += block) w += lower_above16(before + start, position);
      position -= before[w];
    }
    const i64 bit = select_bit(left[w], position);
    left[w] &= ~(u64{1} << bit);
    return w * 64 + bit;
  }

  [[gnu::always_inline]] void count_all_before() {
    for (i64 w = 0; w < whole_blocks(); ++w) before[w] = static_cast<i32>(64 * w);
  }

  // A position from 0 up to a bound that is itself uniform on 0 … remaining - 1, from one word.
  [[gnu::always_inline]] u32 draw_position(u32 remaining) {
    const u64 word = stream.word();
    const u32 bound = stream.bounded32(static_cast<u32>(word >> 32), remaining);
    return stream.bounded32(static_cast<u32>(word), bound + 1);
  }

  void put_back_all() {
    for (i64 w = 0; w < words; ++w) left[w] = ~u64{0};
    if (plan->cases % 64 != 0) left[words - 1] = (u64{1} << (plan->cases % 64)) - 1;
    count_all_before();
    for (i64 c = 0; c < plan->cases; ++c) cases[c] = plan->by_rank[c];
    for (i64 r = 0; r < plan->cases; ++r) tied_left[r] = plan->tie_size[r];
    taken = 0;
  }
};

}  // namespace
}  // namespace flexicase::FX_ISA

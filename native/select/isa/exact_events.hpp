// Exact lexicase on sets of bits: the pool is a bit set over kinds (individuals with equal errors),
// and one case keeps `pool & best[case]` unless that is empty.
#pragma once

#include <cstddef>

#include "flexicase/parallel.hpp"
#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"
#include "select/isa/load.hpp"
#include "select/isa/order.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

template <class Walker>
class PlaneEvents {
 public:
  PlaneEvents(const Planes& planes, const OrderPlan& order, const Request& request, Scratch scratch, Watch& watch)
      : p(planes), request(request), words(planes.words), watch(watch), carver{scratch.memory}, walker(order, carver) {
    buffers = carver.take<u64>(2 * words);
    spare = buffers;
    where = carver.take<i32>(words);
    marks = carver.take<u64>(p.values.cols / 64 + 1);
    rows = carver.take<i32>(p.kinds);
    values = carver.take<u64>(p.kinds);
    if (p.uncoded.data != nullptr) few = carver.take<u8>(few_kinds * p.values.cols);
  }

  static std::size_t scratch(const OrderPlan& order, i64 kinds) {
    const i64 words = (kinds + 511) / 512 * 8;
    const i64 bytes = 20 * words + order.cases / 8 + 12 * kinds + few_kinds * order.cases + 8 * 64;
    return Walker::scratch(order) + static_cast<std::size_t>(bytes);
  }

  template <bool counts>
  void run(i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      if ((i - begin) % together == 0) watch.spend(together * 20);
      state = event_state(request.key, request.first_event + static_cast<u64>(i) * request.event_step);
      request.indices[i] = member<counts>(p.kinds == 1 ? everyone_alike<counts>() : event<counts>());
      if constexpr (counts) store(i);
    }
  }

 private:
  static constexpr i64 together = 64;   // events that are short if their first case decides
  static constexpr i64 few_kinds = 8;   // few enough to compare their errors on all cases
  static constexpr i64 few_words = 16;  // few enough to go through all of them
  static constexpr i64 patience = 6;    // cases without effect before the differences are looked up

  // The kind that is selected.
  template <bool counts>
  [[gnu::always_inline]] i64 event() {
    const i32 c = walker.first(state);
    if constexpr (counts) {
      used = 1;
      evaluations = p.individuals;
      evaluations_distinct = p.kinds;
    }
    i64 chosen = p.only_best[c];
    if (chosen < 0) chosen = narrow<counts>(c);
    walker.finish();
    return chosen;
  }

  template <bool counts>
  [[gnu::always_inline]] i64 narrow(i32 c) {
    pool = p.best + c * words;
    kinds = p.best_kinds[c];
    active = words;
    sparse = false;
    size = 0;
    bool may_jump = Walker::keyed;
    i64 idle = 0;     // cases in a row that kept everybody
    i64 skipped = 0;  // of these, how many are still to be counted
    while (kinds > 1) {
      if (may_jump && kinds <= few_kinds && walker.window_used_up()) {
        if constexpr (counts) count(skipped);
        skipped = 0;
        const i64 before = kinds;
        if (jump<counts>() && kinds < before) continue;
        may_jump = false;  // nowhere to jump to, or the caller has changed the errors since they were looked up
      }
      watch.spend(words + 16);
      c = walker.next();
      if (c < 0) break;
      if (idle >= patience && (marks[c / 64] >> (c % 64) & 1) == 0) {
        ++skipped;
        continue;
      }
      if constexpr (counts) count(skipped + 1);
      skipped = 0;
      const i64 before = kinds;
      keep_best(c);
      idle = kinds == before ? idle + 1 : 0;
      if (idle == patience) {
        if (kinds <= few_kinds) {
          mark<counts>();
        } else {
          idle = 0;
        }
      }
    }
    if constexpr (counts) count(skipped);
    i64 k = 0;
    while (pool[k] == 0) ++k;
    return word_index(k) * i64{64} + lowest_bit(pool[k]);
  }

  [[gnu::always_inline]] void keep_best(i32 c) {
    const u64* __restrict best = p.best + c * words;
    const u64* __restrict from = pool;
    u64* __restrict to = spare;
    i64 left = 0;
    if (sparse) {
      const i32* __restrict which = where;
      const i64 n = active;
      for (i64 k = 0; k < n; ++k) {
        to[k] = from[k] & best[which[k]];
        left += count_ones(to[k]);
      }
    } else {
      left = count_ones_of(words, [=](i64 w) { return to[w] = from[w] & best[w]; });
    }
    if (left != 0) {
      take_spare(left);
    } else if (p.several == nullptr || p.several[c] != 0) {
      keep_least(c);
    }
  }

  // The new pool has been written to `spare`.
  [[gnu::always_inline]] void take_spare(i64 kinds_left) {
    pool = spare;
    spare = spare == buffers ? buffers + words : buffers;
    if (kinds != kinds_left) size = 0;
    kinds = kinds_left;
    if (!sparse && words > few_words && kinds <= few_kinds) make_sparse();
  }

  void make_sparse() {
    i64 kept = 0;
    for (i64 w = 0; w < words; ++w) {
      spare[kept] = pool[w];
      where[kept] = static_cast<i32>(w);
      kept += pool[w] != 0;
    }
    active = kept;
    sparse = true;
    take_spare(kinds);
  }

  [[gnu::always_inline]] i32 word_index(i64 k) const { return sparse ? where[k] : static_cast<i32>(k); }

  // The rows of the kinds in the pool.
  [[gnu::always_inline]] i64 list_rows() {
    i64 count = 0;
    for (i64 k = 0; k < active; ++k) {
      const i32* row = p.row_of_kind + word_index(k) * 64;
      for (u64 bits = pool[k]; bits != 0; bits &= bits - 1) rows[count++] = row[lowest_bit(bits)];
    }
    return count;
  }

  // No kind left is among the best of all on this case: compare those that are left.
  void keep_least(i32 c) {
    const i64 count = list_rows();
    watch.spend(4 * count);
    if (p.uncoded.data != nullptr) {
      load_codes(p, c, rows, count, values);
    } else {
      load_ordered(p.values, c, rows, count, values);
    }
    u64 least = values[0];
    for (i64 k = 1; k < kinds; ++k) least = values[k] < least ? values[k] : least;
    i64 kinds_left = 0;
    i64 at = 0;
    for (i64 k = 0; k < active; ++k) {
      u64 left = 0;
      for (u64 bits = pool[k]; bits != 0; bits &= bits - 1) {
        left |= static_cast<u64>(values[at++] == least) << lowest_bit(bits);
      }
      spare[k] = left;
      kinds_left += count_ones(left);
    }
    take_spare(kinds_left);
  }

  // Brings the codes of the few rows listed together; lists their places there instead.
  MatrixView copy_rows(i64 count) {
    const i64 cols = p.values.cols;
    for (i64 k = 0; k < count; ++k) {
      u8* __restrict to = few + k * cols;
      if (rows[k] < 0) {
        load_codes(p.uncoded, ~rows[k], 0, cols, to);
      } else {
        load_codes(p.values, rows[k], 0, cols, to);
      }
      rows[k] = static_cast<i32>(k);
    }
    return {few, DType::u8, count, cols, cols, 1};
  }

  // Looks up on which cases the few kinds that are left differ. If only the outcome is wanted and
  // all these cases favour the same one of two, it is settled. Returns whether it is.
  template <bool counts>
  bool mark() {
    const i64 count = list_rows();
    const MatrixView errors = p.uncoded.data != nullptr ? copy_rows(count) : p.values;
    watch.spend(p.values.cols);
    mark_differences(errors, rows, static_cast<int>(count), marks);
    if (counts || kinds != 2 || !one_sided(errors, rows[0], rows[1], marks)) return false;
    const i64 last = (p.values.cols - 1) / 64;
    i64 w = 0;
    while (w < last && marks[w] == 0) ++w;
    if (marks[w] == 0) return false;  // the caller has changed the errors: they tell the two apart no more
    keep_best(static_cast<i32>(w * 64 + lowest_bit(marks[w])));
    return true;
  }

  // Few kinds are left: go straight to the first case on which they differ. The cases that are
  // skipped would keep them all.
  template <bool counts>
  [[gnu::always_inline]] bool jump() {
    if (mark<counts>()) return true;
    i64 position = 0;
    const i32 c = walker.jump(marks, counts, &position);
    if (c < 0) return false;
    if constexpr (counts) {
      if (position >= used) count(position + 1 - used);  // always, unless the caller has changed the errors
    }
    keep_best(c);
    return true;
  }

  // So many cases are looked at with the pool as it is.
  [[gnu::always_inline]] void count(i64 cases) {
    if (size == 0) size = individuals();
    used += cases;
    evaluations += size * cases;
    evaluations_distinct += kinds * cases;
  }

  i64 individuals() const {
    i64 sum = 0;
    if (kinds <= few_kinds) {
      for (i64 k = 0; k < active; ++k) {
        const i32* start = p.member_start + word_index(k) * 64;
        for (u64 bits = pool[k]; bits != 0; bits &= bits - 1) {
          const int at = lowest_bit(bits);
          sum += start[at + 1] - start[at];
        }
      }
      return sum;
    }
    for (i64 b = 0; b < p.multiplicity_bits; ++b) {
      const u64* __restrict digit = p.multiplicity + b * words;
      i64 ones = 0;
      if (sparse) {
        for (i64 k = 0; k < active; ++k) ones += count_ones(pool[k] & digit[where[k]]);
      } else {
        ones = count_ones_of(words, [&](i64 w) { return pool[w] & digit[w]; });
      }
      sum += ones << b;
    }
    return sum;
  }

  // A random individual of a kind; no case that is still to come could part them.
  template <bool counts>
  [[gnu::always_inline]] i64 member(i64 kind) {
    const i64 start = p.member_start[kind];
    const i64 size = p.member_start[kind + 1] - start;
    if constexpr (counts) ended = Ended::one_left;
    if (size == 1) return p.members[start];
    if constexpr (counts) {
      evaluations += size * (p.values.cols - used);
      used = p.values.cols;
      ended = Ended::cases_exhausted;
    }
    return p.members[start + static_cast<i64>(Stream{lane_state(state, Lane::pick)}.bounded(static_cast<u64>(size)))];
  }

  template <bool counts>
  [[gnu::always_inline]] i64 everyone_alike() {
    if constexpr (counts) used = evaluations = evaluations_distinct = 0;
    return 0;
  }

  void store(i64 i) {
    request.evaluations[i] = evaluations;
    request.evaluations_distinct[i] = evaluations_distinct;
    request.cases_used[i] = used;
    request.ended[i] = static_cast<u8>(ended);
  }

  const Planes& p;
  const Request& request;
  const i64 words;
  Watch& watch;
  Carver carver;
  Walker walker;
  const u64* pool = nullptr;  // (active,) all words of the pool or, if sparse, those that were not empty
  u64* buffers;               // (2, words)
  u64* spare;                 // the one of the two that is not the pool
  i32* where;                 // (words,) which words they are, if sparse
  u64* marks;                 // (cols / 64,)
  i32* rows;                  // (kinds,)
  u64* values;                // (kinds,)
  u8* few = nullptr;          // (few_kinds, cols) if some kinds have no codes
  i64 active = 0;
  bool sparse = false;
  i64 kinds = 0;  // in the pool
  i64 size = 0;   // individuals in the pool; 0 if not known
  u64 state = 0;
  i64 evaluations = 0;
  i64 evaluations_distinct = 0;
  i64 used = 0;
  Ended ended = Ended::one_left;
};

}  // namespace flexicase::FX_ISA

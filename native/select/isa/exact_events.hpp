// Exact lexicase on sets of bits: the pool is a bit set over unique rows (individuals with equal errors),
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

template <class OrderCursor>
class ExactEvents {
 public:
  ExactEvents(const BestSets& sets, const OrderPlan& order, const Request& request, Scratch scratch, Watch& watch)
      : p(sets), request(request), words(sets.words), watch(watch), space{scratch.memory}, cursor(order, space) {
    buffers = space.take<u64>(2 * words);
    spare = buffers;
    where = space.take<i32>(words);
    marks = space.take<u64>(p.values.cols / 64 + 1);
    rows = space.take<i32>(p.unique_rows);
    values = space.take<u64>(p.unique_rows);
    if (p.uncoded.data != nullptr) few = space.take<u8>(few_rows * p.values.cols);
  }

  static std::size_t scratch(const OrderPlan& order, i64 unique_rows) {
    const i64 words = (unique_rows + 511) / 512 * 8;
    const i64 bytes = 20 * words + order.cases / 8 + 12 * unique_rows + few_rows * order.cases + 8 * 64;
    return OrderCursor::scratch(order) + static_cast<std::size_t>(bytes);
  }

  template <bool counts>
  void run(i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      if ((i - begin) % together == 0) watch.spend(together * 20);
      state = event_state(request.key, request.first_event + static_cast<u64>(i) * request.event_step);
      request.indices[i] = member<counts>(p.unique_rows == 1 ? all_equal<counts>() : event<counts>());
      if constexpr (counts) store(i);
    }
  }

 private:
  static constexpr i64 together = 64;   // events that are short if their first case decides
  static constexpr i64 few_rows = 8;    // few enough to compare their errors on all cases
  static constexpr i64 few_words = 16;  // few enough to go through all of them
  static constexpr i64 patience = 6;    // cases without effect before the differences are looked up

  // The unique row that is selected.
  template <bool counts>
  [[gnu::always_inline]] i64 event() {
    const i32 c = cursor.first(state);
    if constexpr (counts) {
      used = 1;
      evaluations = p.individuals;
      evaluations_distinct = p.unique_rows;
    }
    i64 chosen = p.only_best[c];
    if (chosen < 0) chosen = narrow<counts>(c);
    cursor.finish();
    return chosen;
  }

  template <bool counts>
  [[gnu::always_inline]] i64 narrow(i32 c) {
    pool = p.best + c * words;
    unique_rows = p.n_best[c];
    active = words;
    sparse = false;
    size = 0;
    bool may_jump = OrderCursor::keyed;
    i64 idle = 0;     // cases in a row that removed no unique row
    i64 skipped = 0;  // of these, how many are still to be counted
    while (unique_rows > 1) {
      if (may_jump && unique_rows <= few_rows && cursor.window_used_up()) {
        if constexpr (counts) count(skipped);
        skipped = 0;
        const i64 before = unique_rows;
        if (jump<counts>() && unique_rows < before) continue;
        may_jump = false;  // nowhere to jump to, or the caller has changed the errors since they were looked up
      }
      watch.spend(words + 16);
      c = cursor.next();
      if (c < 0) break;
      if (idle >= patience && (marks[c / 64] >> (c % 64) & 1) == 0) {
        ++skipped;
        continue;
      }
      if constexpr (counts) count(skipped + 1);
      skipped = 0;
      const i64 before = unique_rows;
      keep_best(c);
      idle = unique_rows == before ? idle + 1 : 0;
      if (idle == patience) {
        if (unique_rows <= few_rows) {
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
    } else if (p.has_more_than_two_values == nullptr || p.has_more_than_two_values[c] != 0) {
      keep_least(c);
    }
  }

  // The new pool has been written to `spare`.
  [[gnu::always_inline]] void take_spare(i64 rows_left) {
    pool = spare;
    spare = spare == buffers ? buffers + words : buffers;
    if (unique_rows != rows_left) size = 0;
    unique_rows = rows_left;
    if (!sparse && words > few_words && unique_rows <= few_rows) make_sparse();
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
    take_spare(unique_rows);
  }

  [[gnu::always_inline]] i32 word_index(i64 k) const { return sparse ? where[k] : static_cast<i32>(k); }

  // The rows of the unique rows in the pool.
  [[gnu::always_inline]] i64 list_rows() {
    i64 count = 0;
    for (i64 k = 0; k < active; ++k) {
      const i32* row = p.row_of + word_index(k) * 64;
      for (u64 bits = pool[k]; bits != 0; bits &= bits - 1) rows[count++] = row[lowest_bit(bits)];
    }
    return count;
  }

  // No unique row left is among the best of all on this case: compare those that are left.
  [[gnu::noinline]] void keep_least(i32 c) {
    const i64 count = list_rows();
    watch.spend(4 * count);
    if (p.uncoded.data != nullptr) {
      load_codes(p, c, rows, count, values);
    } else {
      load_ordered(p.values, c, rows, count, values);
    }
    u64 least = values[0];
    for (i64 k = 1; k < unique_rows; ++k) least = values[k] < least ? values[k] : least;
    i64 rows_left = 0;
    i64 at = 0;
    for (i64 k = 0; k < active; ++k) {
      u64 left = 0;
      for (u64 bits = pool[k]; bits != 0; bits &= bits - 1) {
        left |= static_cast<u64>(values[at++] == least) << lowest_bit(bits);
      }
      spare[k] = left;
      rows_left += count_ones(left);
    }
    take_spare(rows_left);
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

  // Looks up on which cases the few unique rows that are left differ. If only the outcome is wanted and
  // all these cases favour the same one of two, it is settled. Returns whether it is.
  template <bool counts>
  [[gnu::noinline]] bool mark() {
    const i64 count = list_rows();
    const MatrixView errors = p.uncoded.data != nullptr ? copy_rows(count) : p.values;
    watch.spend(p.values.cols);
    mark_differences(errors, rows, static_cast<int>(count), marks);
    if (counts || unique_rows != 2 || !one_sided(errors, rows[0], rows[1], marks)) return false;
    const i64 last = (p.values.cols - 1) / 64;
    i64 w = 0;
    while (w < last && marks[w] == 0) ++w;
    if (marks[w] == 0) return false;  // the caller has changed the errors: they tell the two apart no more
    keep_best(static_cast<i32>(w * 64 + lowest_bit(marks[w])));
    return true;
  }

  // Few unique rows are left: go straight to the first case on which they differ. The cases that are
  // skipped would keep them all.
  template <bool counts>
  [[gnu::always_inline]] bool jump() {
    if (mark<counts>()) return true;
    i64 position = 0;
    const i32 c = cursor.jump(marks, counts, &position);
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
    evaluations_distinct += unique_rows * cases;
  }

  i64 individuals() const {
    i64 sum = 0;
    if (unique_rows <= few_rows) {
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

  // A random individual of a unique row; no later case could tell them apart.
  template <bool counts>
  [[gnu::always_inline]] i64 member(i64 unique) {
    const i64 start = p.member_start[unique];
    const i64 size = p.member_start[unique + 1] - start;
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
  [[gnu::always_inline]] i64 all_equal() {
    if constexpr (counts) used = evaluations = evaluations_distinct = 0;
    return 0;
  }

  void store(i64 i) {
    request.evaluations[i] = evaluations;
    request.evaluations_distinct[i] = evaluations_distinct;
    request.cases_used[i] = used;
    request.ended[i] = static_cast<u8>(ended);
  }

  const BestSets& p;
  const Request& request;
  const i64 words;
  Watch& watch;
  ScratchSpace space;
  OrderCursor cursor;
  const u64* pool = nullptr;  // (active,) all words of the pool or, if sparse, those that were not empty
  u64* buffers;               // (2, words)
  u64* spare;                 // the one of the two that is not the pool
  i32* where;                 // (words,) which words they are, if sparse
  u64* marks;                 // (cols / 64,)
  i32* rows;                  // (unique_rows,)
  u64* values;                // (unique_rows,)
  u8* few = nullptr;          // (few_rows, cols) if some unique rows have no codes
  i64 active = 0;
  bool sparse = false;
  i64 unique_rows = 0;  // in the pool
  i64 size = 0;         // individuals in the pool; 0 if not known
  u64 state = 0;
  i64 evaluations = 0;
  i64 evaluations_distinct = 0;
  i64 used = 0;
  Ended ended = Ended::one_left;
};

}  // namespace flexicase::FX_ISA

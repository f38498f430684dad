// Lexicase with the pool as a list of individuals: epsilon filters, batches, truncation, slippage.
#pragma once

#include <cstddef>

#include "flexicase/parallel.hpp"
#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"
#include "select/isa/load.hpp"
#include "select/isa/median.hpp"
#include "select/isa/order.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

// Errors of one case as doubles, and their MAD, computed when first needed. Several threads may
// want the same column: each flag goes 0 (empty), 1 (a thread is filling it), 2 (ready).
// A thread that finds 1 computes into its own buffer instead of waiting.
struct Columns {
  const EpsilonPlan& p;
  double* own;   // (rows,)
  double* work;  // (3, rows + 8)

  bool in_place() const { return p.values.type == DType::f64 && p.values.row_stride == 1; }

  const double* caller_column(i64 c) const {
    return static_cast<const double*>(p.values.data) + c * p.values.col_stride;
  }

  void prefetch(i64 c) const {
    const double* column = caller_column(c);
    for (i64 r = 0; r < p.values.rows; r += 8) __builtin_prefetch(column + r);
  }

  const double* get(i64 c) {
    const i64 rows = p.values.rows;
    if (in_place()) return caller_column(c);
    if (p.columns != nullptr) {
      const i64 number = (c + p.tile_offset) / column_tile;
      u8* flag = p.columns_ready + number;
      u8 seen = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
      if (seen == 2) return p.columns + c * rows;
      if (seen == 0 && __atomic_compare_exchange_n(flag, &seen, u8{1}, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        const i64 begin = number == 0 ? 0 : number * column_tile - p.tile_offset;
        const i64 next = (number + 1) * column_tile - p.tile_offset;
        load_columns(p.values, begin, (next < p.values.cols ? next : p.values.cols) - begin, p.columns + begin * rows);
        __atomic_store_n(flag, u8{2}, __ATOMIC_RELEASE);
        return p.columns + c * rows;
      }
    }
    load_columns(p.values, c, 1, own);
    return own;
  }

  double mad(i64 c, const double* column) {
    u8* flag = p.mad_ready + c;
    if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 2) return p.mad[c];
    if (in_place())
      load_doubles(p.values, c, nullptr, p.values.rows, own);  // the caller may change what a median is taken of
    const double value = median_absolute_deviation(in_place() ? own : column, p.values.rows, work);
    u8 seen = 0;
    if (__atomic_compare_exchange_n(flag, &seen, u8{1}, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      p.mad[c] = value;
      __atomic_store_n(flag, u8{2}, __ATOMIC_RELEASE);
    }
    return value;
  }
};

template <class OrderCursor>
class EpsilonEvents {
 public:
  EpsilonEvents(const EpsilonPlan& plan, const OrderPlan& order, const Request& request, Scratch scratch, Watch& watch)
      : p(plan),
        request(request),
        cases(order.cases),
        watch(watch),
        space{scratch.memory},
        cursor(order, space),
        columns{plan, nullptr, nullptr},
        reads_ahead(plan.tolerance == Tolerance::mad && columns.in_place()) {
    const i64 rows = p.values.rows;
    pool = space.take<i32>(rows);
    values = space.take<double>(rows);
    exact = space.take<u64>(rows);
    columns.own = space.take<double>(rows);
    columns.work = space.take<double>(3 * (rows + 8));
    batched = space.take<u64>(words());
    stamps = space.take<u32>(rows);
    for (i64 w = 0; w < words(); ++w) batched[w] = 0;
    for (i64 r = 0; r < rows; ++r) stamps[r] = 0;
  }

  static std::size_t scratch(const OrderPlan& order, i64 rows) {
    return OrderCursor::scratch(order) + static_cast<std::size_t>(rows + 64) * 64 +
           static_cast<std::size_t>(order.cases / 8);
  }

  void run(i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      event(event_state(request.key, request.first_event + static_cast<u64>(i) * request.event_step), i);
    }
  }

 private:
  void event(u64 state, i64 i) {
    const bool counts = request.ended != nullptr;
    i64 depth = p.depth < cases ? p.depth : cases;
    if (p.random_depth && cases > 0) {
      depth = static_cast<i64>(Stream{lane_state(state, Lane::depth)}.bounded(static_cast<u64>(cases))) + 1;
    }
    Stream slips{lane_state(state, Lane::slippage)};
    begin_pool();
    drawn = 0;
    i64 used = 0;
    i64 evaluations = 0;
    i64 evaluations_distinct = 0;
    Ended ended = Ended::one_left;
    while (size > 1) {
      if (p.slippage > 0 && slips.unit() < p.slippage) {
        ended = Ended::cut_short;
        break;
      }
      if (used == depth) {
        ended = used == cases ? Ended::cases_exhausted : Ended::cut_short;
        break;
      }
      const i64 batch = p.batch < depth - used ? p.batch : depth - used;
      watch.spend(20 + 4 * size);
      if (counts) {
        const i64 distinct = unique_rows();
        evaluations += size * batch;
        evaluations_distinct += distinct > 1 ? distinct * batch : 0;
      }
      filter(state, batch, depth);
      used += batch;
    }
    if (drawn > 0) cursor.finish();
    const i64 chosen = static_cast<i64>(Stream{lane_state(state, Lane::pick)}.bounded(static_cast<u64>(size)));
    const i64 parent = whole ? chosen : pool[chosen];
    request.indices[i] = parent;
    if (request.taken != nullptr) request.taken[parent] = 1;
    if (!counts) return;
    request.evaluations[i] = evaluations;
    request.evaluations_distinct[i] = evaluations_distinct;
    request.cases_used[i] = used;
    request.ended[i] = static_cast<u8>(ended);
  }

  // The population, without individuals that are taken.
  void begin_pool() {
    size = p.values.rows;
    whole = request.taken == nullptr;
    if (whole) return;
    size = 0;
    for (i64 r = 0; r < p.values.rows; ++r) {
      pool[size] = static_cast<i32>(r);
      size += request.taken[r] == 0;
    }
  }

  i32 draw_case(u64 state) { return drawn++ == 0 ? cursor.first(state) : cursor.next(); }

  // The next case. Where columns are read in place, the one after it is drawn too, if the event may
  // get to it, and begins its way from memory while this one is worked on.
  i32 next_case(u64 state, i64 depth) {
    if (!reads_ahead) return draw_case(state);
    const i32 c = drawn == 0 ? draw_case(state) : ahead;
    if (drawn < depth) {
      ahead = draw_case(state);
      columns.prefetch(ahead);
    }
    return c;
  }

  void filter(u64 state, i64 batch, i64 depth) {
    if (batch > 1) return filter_batch(state, batch, depth);
    const i32 c = next_case(state, depth);
    if (p.tolerance == Tolerance::none) return keep_exact(c);
    if (p.tolerance == Tolerance::mad) {
      const double* column = columns.get(c);
      const double epsilon = columns.mad(c, column);
      if (!whole) {
        for (i64 k = 0; k < size; ++k) values[k] = column[pool[k]];
        column = values;
      }
      return keep_within(column, epsilon);
    }
    load_doubles(p.values, c, members(), size, values);
    keep_close(tolerance_of(c));
  }

  // Errors and tolerances of a batch are summed by ascending case, whatever order the cases were drawn in, so that
  // the sums of a set of cases are always the same. A sum that is not a number counts as infinite.
  void filter_batch(u64 state, i64 batch, i64 depth) {
    for (i64 b = 0; b < batch; ++b) {
      const i32 c = next_case(state, depth);
      batched[c / 64] |= u64{1} << (c % 64);
    }
    double epsilon = 0.0;
    for (i64 k = 0; k < size; ++k) values[k] = 0.0;
    for (i64 w = 0; w < words(); ++w) {
      for (u64 bits = batched[w]; bits != 0; bits &= bits - 1) {
        const i64 c = w * 64 + lowest_bit(bits);
        watch.spend(4 * size);
        epsilon += tolerance_of(c);
        load_doubles(p.values, c, members(), size, columns.work);
        for (i64 k = 0; k < size; ++k) values[k] += columns.work[k];
      }
      batched[w] = 0;
    }
    for (i64 k = 0; k < size; ++k) values[k] = values[k] == values[k] ? values[k] : infinity;
    keep_close(epsilon);
  }

  void keep_close(double epsilon) {
    if (p.tolerance == Tolerance::dynamic_mad) epsilon = median_absolute_deviation(values, size, columns.work);
    keep_within(values, epsilon);
  }

  double tolerance_of(i64 c) {
    if (p.tolerance == Tolerance::fixed) return p.epsilon[c];
    if (p.tolerance == Tolerance::mad) return columns.mad(c, columns.get(c));
    return 0.0;
  }

  const i32* members() const { return whole ? nullptr : pool; }

  i64 words() const { return cases / 64 + 1; }

  void keep_exact(i32 c) {
    load_ordered(p.values, c, members(), size, exact);
    u64 least = exact[0];
    for (i64 k = 1; k < size; ++k) least = exact[k] < least ? exact[k] : least;
    keep([&](i64 k) { return exact[k] == least; });
  }

  void keep_within(const double* x, double epsilon) {
    double lanes[8];
    for (int j = 0; j < 8; ++j) lanes[j] = x[0];
    i64 k = 0;
    for (; k + 8 <= size; k += 8) {
      for (int j = 0; j < 8; ++j) lanes[j] = x[k + j] < lanes[j] ? x[k + j] : lanes[j];
    }
    for (; k < size; ++k) lanes[0] = x[k] < lanes[0] ? x[k] : lanes[0];
    double least = lanes[0];
    for (int j = 1; j < 8; ++j) least = lanes[j] < least ? lanes[j] : least;
    const double limit = least + epsilon;  // NaN, if the best sum of a batch is -inf and epsilon infinite, keeps all
    keep([&](i64 i) { return !(x[i] > limit); });
  }

  template <class Test>
  [[gnu::always_inline]] void keep(Test&& test) {
    i64 kept = 0;
    if (whole) {
      for (i64 k = 0; k < size; ++k) {
        pool[kept] = static_cast<i32>(k);
        kept += test(k);
      }
    } else {
      for (i64 k = 0; k < size; ++k) {
        pool[kept] = pool[k];
        kept += test(k);
      }
    }
    if (kept == 0) return;  // only if the caller has changed the errors
    whole = false;
    size = kept;
  }

  i64 unique_rows() {
    if (p.first_equal == nullptr) return size;
    if (++stamp == 0) {
      for (i64 r = 0; r < p.values.rows; ++r) stamps[r] = 0;
      stamp = 1;
    }
    i64 distinct = 0;
    for (i64 k = 0; k < size; ++k) {
      u32& seen = stamps[p.first_equal[whole ? k : pool[k]]];
      distinct += seen != stamp;
      seen = stamp;
    }
    return distinct;
  }

  const EpsilonPlan& p;
  const Request& request;
  i64 cases;
  Watch& watch;
  ScratchSpace space;
  OrderCursor cursor;
  Columns columns;
  const bool reads_ahead;
  i32 ahead = 0;  // the case after the one being worked on
  i64 drawn = 0;  // cases taken from the cursor in this event
  i32* pool;
  double* values;
  u64* exact;
  u64* batched;  // (cases / 64 + 1,) bits of the cases of a batch; none set between batches
  u32* stamps;
  u32 stamp = 0;
  i64 size = 0;
  bool whole = true;  // the pool is the population, and the list is not written yet
};

}  // namespace flexicase::FX_ISA

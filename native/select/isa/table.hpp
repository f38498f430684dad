// The table of inner loops of one instruction set.
#pragma once

#include <cstddef>

#include "flexicase/parallel.hpp"
#include "flexicase/select.hpp"
#include "select/isa/aggregate.hpp"
#include "select/isa/encode.hpp"
#include "select/isa/epsilon_events.hpp"
#include "select/isa/exact_events.hpp"
#include "select/isa/median.hpp"
#include "select/isa/order_ranked.hpp"
#include "select/isa/order_uniform.hpp"
#include "select/isa/order_weighted.hpp"
#include "select/isa/prepare.hpp"
#include "select/isa/tag.hpp"

#define FX_TEXT_OF(name) #name
#define FX_TEXT(name) FX_TEXT_OF(name)

namespace flexicase::FX_ISA {

// Calls f(Tag<OrderCursor>{}) with the cursor of an order.
template <class W>
struct Tag {
  using OrderCursor = W;
};

template <class F>
auto with_cursor(OrderKind kind, F&& f) {
  if (kind == OrderKind::uniform) return f(Tag<UniformCursor>{});
  if (kind == OrderKind::weighted) return f(Tag<WeightedCursor>{});
  return f(Tag<RankedCursor>{});
}

inline std::size_t exact_scratch(const OrderPlan& order, i64 unique_rows) {
  return with_cursor(order.kind, [&](auto tag) {
    return ExactEvents<typename decltype(tag)::OrderCursor>::scratch(order, unique_rows);
  });
}

inline std::size_t epsilon_scratch(const OrderPlan& order, i64 rows) {
  return with_cursor(
      order.kind, [&](auto tag) { return EpsilonEvents<typename decltype(tag)::OrderCursor>::scratch(order, rows); });
}

inline void draw_exact(const BestSets& sets, const OrderPlan& order, const Request& request, i64 begin, i64 end,
                       Scratch scratch, Watch& watch) {
  with_cursor(order.kind, [&](auto tag) {
    ExactEvents<typename decltype(tag)::OrderCursor> events(sets, order, request, scratch, watch);
    if (request.ended != nullptr) {
      events.template run<true>(begin, end);
    } else {
      events.template run<false>(begin, end);
    }
  });
}

inline void draw_epsilon(const EpsilonPlan& plan, const OrderPlan& order, const Request& request, i64 begin, i64 end,
                         Scratch scratch, Watch& watch) {
  with_cursor(order.kind, [&](auto tag) {
    EpsilonEvents<typename decltype(tag)::OrderCursor>(plan, order, request, scratch, watch).run(begin, end);
  });
}

inline bool encode_any(const MatrixView& m, u8* codes, CodeBook* book, Watch& watch) {
  return with_type(m.type, [&](auto zero) { return encode<decltype(zero)>(m, codes, book, watch); });
}

inline bool column_minima_any(const MatrixView& m, void* minima, i32* rows, Watch& watch) {
  return with_type(m.type, [&](auto zero) { return column_minima<decltype(zero)>(m, minima, rows, watch); });
}

inline void find_best_any(const BestSets& p, const void* minima, u64* best, Watch& watch) {
  with_equality_type(p.values.type, [&](auto zero) { find_best<decltype(zero)>(p, minima, best, watch); });
}

inline void row_hashes_any(const MatrixView& m, const u64* keys, u64* hashes, Watch& watch) {
  with_equality_type(m.type, [&](auto zero) { row_hashes<decltype(zero)>(m, keys, hashes, watch); });
}

inline void count_zeros_any(const MatrixView& m, const i32* rows, i64 count, i64* zeros, Watch& watch) {
  with_equality_type(m.type, [&](auto zero) { count_zeros<decltype(zero)>(m, rows, count, zeros, watch); });
}

extern const Isa table;
const Isa table = {
    .name = FX_TEXT(FX_ISA),
    .encode = encode_any,
    .column_minima = column_minima_any,
    .find_best = find_best_any,
    .widen_ranges = widen_ranges,
    .row_hashes = row_hashes_any,
    .set_sizes = set_sizes,
    .count_zeros = count_zeros_any,
    .exact_scratch = exact_scratch,
    .epsilon_scratch = epsilon_scratch,
    .draw_exact = draw_exact,
    .draw_epsilon = draw_epsilon,
    .median_absolute_deviation = median_absolute_deviation,
    .draw_normals = draw_normals,
    .exponentials = exponentials,
    .add_scaled = add_scaled,
};

}  // namespace flexicase::FX_ISA

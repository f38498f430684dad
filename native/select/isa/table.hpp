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

// Calls f(Tag<Walker>{}) with the walker of an order.
template <class W>
struct Tag {
  using Walker = W;
};

template <class F>
auto with_walker(OrderKind kind, F&& f) {
  if (kind == OrderKind::uniform) return f(Tag<UniformWalker>{});
  if (kind == OrderKind::weighted) return f(Tag<WeightedWalker>{});
  return f(Tag<RankedWalker>{});
}

inline std::size_t planes_scratch(const OrderPlan& order, i64 kinds) {
  return with_walker(order.kind,
                     [&](auto tag) { return PlaneEvents<typename decltype(tag)::Walker>::scratch(order, kinds); });
}

inline std::size_t list_scratch(const OrderPlan& order, i64 rows) {
  return with_walker(order.kind,
                     [&](auto tag) { return ListEvents<typename decltype(tag)::Walker>::scratch(order, rows); });
}

inline void draw_planes(const Planes& planes, const OrderPlan& order, const Request& request, i64 begin, i64 end,
                        Scratch scratch, Watch& watch) {
  with_walker(order.kind, [&](auto tag) {
    PlaneEvents<typename decltype(tag)::Walker> events(planes, order, request, scratch, watch);
    if (request.ended != nullptr) {
      events.template run<true>(begin, end);
    } else {
      events.template run<false>(begin, end);
    }
  });
}

inline void draw_list(const ListPlan& plan, const OrderPlan& order, const Request& request, i64 begin, i64 end,
                      Scratch scratch, Watch& watch) {
  with_walker(order.kind, [&](auto tag) {
    ListEvents<typename decltype(tag)::Walker>(plan, order, request, scratch, watch).run(begin, end);
  });
}

inline bool encode_any(const MatrixView& m, u8* codes, CodeBook* book, Watch& watch) {
  return with_type(m.type, [&](auto zero) { return encode<decltype(zero)>(m, codes, book, watch); });
}

inline bool column_minima_any(const MatrixView& m, void* minima, i32* rows, Watch& watch) {
  return with_type(m.type, [&](auto zero) { return column_minima<decltype(zero)>(m, minima, rows, watch); });
}

inline void best_sets_any(const Planes& p, const void* minima, u64* best, Watch& watch) {
  with_type(p.values.type, [&](auto zero) { best_sets<decltype(zero)>(p, minima, best, watch); });
}

inline void row_hashes_any(const MatrixView& m, const u64* keys, u64* hashes, Watch& watch) {
  with_type(m.type, [&](auto zero) { row_hashes<decltype(zero)>(m, keys, hashes, watch); });
}

inline void count_zeros_any(const MatrixView& m, const i32* rows, i64 count, i64* zeros, Watch& watch) {
  with_type(m.type, [&](auto zero) { count_zeros<decltype(zero)>(m, rows, count, zeros, watch); });
}

extern const Isa table;
const Isa table = {
    .name = FX_TEXT(FX_ISA),
    .encode = encode_any,
    .column_minima = column_minima_any,
    .best_sets = best_sets_any,
    .widen_ranges = widen_ranges,
    .row_hashes = row_hashes_any,
    .set_sizes = set_sizes,
    .count_zeros = count_zeros_any,
    .planes_scratch = planes_scratch,
    .list_scratch = list_scratch,
    .draw_planes = draw_planes,
    .draw_list = draw_list,
    .median_absolute_deviation = median_absolute_deviation,
    .draw_normals = draw_normals,
    .exponentials = exponentials,
    .add_scaled = add_scaled,
};

}  // namespace flexicase::FX_ISA

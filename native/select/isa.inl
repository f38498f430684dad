// The selection kernels, compiled once per instruction set into namespace flexicase::FX_ISA.
//
// Nothing here may call inline functions or templates of the library: without optimisation they end up as shared
// symbols, of which the linker keeps one copy for all instruction sets, perhaps one this processor cannot run.
// Constants and types are fine.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "flexicase/parallel.hpp"
#include "flexicase/select.hpp"

namespace flexicase::FX_ISA {
namespace {

using u8 = std::uint8_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// clang-format off: these build on one another
#include "simd.inl"
#include "load.inl"
#include "counting.inl"
#include "prepare.inl"
#include "tallies.inl"
#include "order.inl"
#include "order_uniform.inl"
#include "order_weighted.inl"
#include "order_ranked.inl"
#include "planes.inl"
#include "median.inl"
#include "list.inl"
// clang-format on

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

std::size_t planes_scratch(const OrderPlan& order, i64 kinds) {
  return with_walker(order.kind,
                     [&](auto tag) { return PlaneEvents<typename decltype(tag)::Walker>::scratch(order, kinds); });
}

std::size_t list_scratch(const OrderPlan& order, i64 rows) {
  return with_walker(order.kind,
                     [&](auto tag) { return ListEvents<typename decltype(tag)::Walker>::scratch(order, rows); });
}

void draw_planes(const Planes& planes, const OrderPlan& order, const Request& request, i64 begin, i64 end,
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

void draw_list(const ListPlan& plan, const OrderPlan& order, const Request& request, i64 begin, i64 end,
               Scratch scratch, Watch& watch) {
  with_walker(order.kind, [&](auto tag) {
    ListEvents<typename decltype(tag)::Walker>(plan, order, request, scratch, watch).run(begin, end);
  });
}

bool encode_any(const MatrixView& m, u8* codes, CodeBook* book, Watch& watch) {
  return with_type(m.type, [&](auto zero) { return encode<decltype(zero)>(m, codes, book, watch); });
}

bool column_minima_any(const MatrixView& m, void* minima, i32* rows, Watch& watch) {
  return with_type(m.type, [&](auto zero) { return column_minima<decltype(zero)>(m, minima, rows, watch); });
}

void best_sets_any(const Planes& p, const void* minima, u64* best, Watch& watch) {
  with_type(p.values.type, [&](auto zero) { best_sets<decltype(zero)>(p, minima, best, watch); });
}

void row_hashes_any(const MatrixView& m, const u64* keys, u64* hashes, Watch& watch) {
  with_type(m.type, [&](auto zero) { row_hashes<decltype(zero)>(m, keys, hashes, watch); });
}

void count_zeros_any(const MatrixView& m, const i32* rows, i64 count, i64* zeros, Watch& watch) {
  with_type(m.type, [&](auto zero) { count_zeros<decltype(zero)>(m, rows, count, zeros, watch); });
}

}  // namespace

extern const Isa table;
const Isa table = {
    .name = FX_ISA_NAME,
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
};

}  // namespace flexicase::FX_ISA

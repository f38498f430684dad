// The selection kernels, compiled once per instruction set into namespace flexicase::FX_ISA.
//
// Nothing here may instantiate library templates that end up as shared symbols: the linker would
// keep one copy for all instruction sets, perhaps one this processor cannot run.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "flexicase/select.hpp"

namespace flexicase::FX_ISA {
namespace {

using u8 = std::uint8_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

#include "simd.inl"
// clang-format off: these build on one another
#include "prepare.inl"
#include "order.inl"
#include "planes.inl"
#include "median.inl"
#include "list.inl"
// clang-format on

// Calls f(T{}) with the entry type of a matrix.
template <class F>
auto with_type(DType type, F&& f) {
  switch (type) {
    case DType::u8: return f(std::uint8_t{});
    case DType::i8: return f(std::int8_t{});
    case DType::u16: return f(std::uint16_t{});
    case DType::i16: return f(std::int16_t{});
    case DType::u32: return f(std::uint32_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::u64: return f(std::uint64_t{});
    case DType::i64: return f(std::int64_t{});
    case DType::f32: return f(float{});
    case DType::f64: break;
  }
  return f(double{});
}

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

std::size_t scratch_size(const OrderPlan& order, i64 rows, i64 words) {
  const std::size_t walker = with_walker(order.kind, [&](auto tag) { return decltype(tag)::Walker::scratch(order); });
  return walker + static_cast<std::size_t>(words + 16) * 12 + static_cast<std::size_t>(rows + 16) * 40 + 1024;
}

void draw_planes(const Planes& planes, const OrderPlan& order, const Request& request, i64 begin, i64 end, Scratch scratch) {
  with_walker(order.kind, [&](auto tag) {
    with_type(planes.values.type, [&](auto zero) {
      PlaneEvents<typename decltype(tag)::Walker, decltype(zero)> events(planes, order, request, scratch);
      if (request.ended != nullptr) {
        events.template run<true>(begin, end);
      } else {
        events.template run<false>(begin, end);
      }
    });
  });
}

void draw_list(const ListPlan& plan, const OrderPlan& order, const Request& request, i64 begin, i64 end, Scratch scratch) {
  with_walker(order.kind, [&](auto tag) {
    with_type(plan.values.type, [&](auto zero) {
      ListEvents<typename decltype(tag)::Walker, decltype(zero)>(plan, order, request, scratch).run(begin, end);
    });
  });
}

}  // namespace

extern const Isa table;
const Isa table = {
    .name = FX_ISA_NAME,
    .encode = [](const MatrixView& m, u8* codes) {
      return with_type(m.type, [&](auto zero) { return encode<decltype(zero)>(m, codes); });
    },
    .column_minima = [](const MatrixView& m, void* minima) {
      return with_type(m.type, [&](auto zero) { return column_minima<decltype(zero)>(m, minima); });
    },
    .best_sets = [](const MatrixView& m, const void* minima, u64* best) {
      with_type(m.type, [&](auto zero) { best_sets<decltype(zero)>(m, minima, best); });
    },
    .two_valued = two_valued,
    .row_hashes = [](const MatrixView& m, const u64* keys, u64* hashes) {
      with_type(m.type, [&](auto zero) { row_hashes<decltype(zero)>(m, keys, hashes); });
    },
    .count_zeros = [](const MatrixView& m, i64* zeros) {
      with_type(m.type, [&](auto zero) { count_zeros<decltype(zero)>(m, zeros); });
    },
    .scratch_size = scratch_size,
    .draw_planes = draw_planes,
    .draw_list = draw_list,
};

}  // namespace flexicase::FX_ISA

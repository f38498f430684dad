// From entries to one-byte codes, and the range of the codes of each column.
#pragma once

#include <type_traits>

#include "flexicase/parallel.hpp"
#include "flexicase/select.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

constexpr i64 segment_width = 2048;

// Calls f(segment, row, col, count) with contiguous pieces of rows that cover the matrix, until it
// returns false. Where rows are not contiguous, tiles are copied first. f is inlined, so it is called once.
template <class T, class F>
void for_segments(const MatrixView& m, Watch& watch, F&& f) {
  constexpr i64 side = 64;
  const bool contiguous = m.col_stride == 1;
  const i64 width = contiguous ? segment_width : side;
  const i64 height = contiguous ? m.rows : side;
  const i64 step = contiguous ? m.row_stride : side;
  T tile[side * side];
  for (i64 c = 0; c < m.cols; c += width) {
    const i64 wide = m.cols - c < width ? m.cols - c : width;
    for (i64 r = 0; r < m.rows; r += height) {
      const i64 high = m.rows - r < height ? m.rows - r : height;
      const T* segment = static_cast<const T*>(m.data) + r * m.row_stride + c * m.col_stride;
      if (!contiguous) {
        watch.spend(high * wide);
        for (i64 j = 0; j < wide; ++j) {
          for (i64 i = 0; i < high; ++i) tile[i * side + j] = segment[i * m.row_stride + j * m.col_stride];
        }
        segment = tile;
      }
      for (i64 i = 0; i < high; ++i) {
        watch.spend(wide);
        if (!f(segment + i * step, r + i, c, wide)) return;
      }
    }
  }
}

template <bool penalised, class T>
bool encode_segment(const T* __restrict x, i64 count, u8* __restrict code, T penalty) {
  constexpr T largest = penalised ? T(254) : T(255);
  u64 wrong = 0;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr i64 block = 64;
    i64 done = 0;
    if constexpr (!penalised && std::is_same_v<T, double>) done = doubles_to_bytes(x, count, code);
    for (i64 start = done; start < count; start += block) {
      const i64 n = count - start < block ? count - start : block;
      i32 whole[block];
      for (i64 i = 0; i < n; ++i) {
        const T v = x[start + i];
        const T below = v < largest ? v : largest;
        const T clipped = below > 0 ? below : T(0);
        const i32 nearest = static_cast<i32>(clipped);
        const T off = v - static_cast<T>(nearest);
        const T error = off < 0 ? -off : off;  // NaN stays NaN
        const bool is_penalty = penalised && v == penalty;
        wrong |= is_penalty ? 0 : __builtin_bit_cast(u64, static_cast<double>(error));
        whole[i] = is_penalty ? 255 : nearest;
      }
      for (i64 i = 0; i < n; ++i) code[start + i] = static_cast<u8>(whole[i]);
    }
    return (wrong & ~(u64{1} << 63)) == 0;
  } else {
    for (i64 i = 0; i < count; ++i) {
      const T v = x[i];
      const bool is_penalty = penalised && v == penalty;
      wrong |= !is_penalty && (v < 0 || static_cast<u64>(v) > static_cast<u64>(penalised ? 254 : 255));
      code[i] = is_penalty ? u8{255} : static_cast<u8>(v);
    }
    return wrong == 0;
  }
}

// Encodes all; on failure `culprit` is an entry that has no code.
template <bool penalised, class T>
bool encode_all(const MatrixView& m, u8* codes, T penalty, T* culprit, Watch& watch) {
  bool possible = true;
  for_segments<T>(m, watch, [&](const T* x, i64 r, i64 c, i64 count) {
    u8* code = codes + r * m.cols + c;
    possible = encode_segment<penalised>(x, count, code, penalty);
    for (i64 i = 0; i < count && !possible; ++i) {
      if (x[i] != static_cast<T>(code[i])) *culprit = x[i];
    }
    return possible;
  });
  return possible;
}

template <class T>
bool encode(const MatrixView& m, u8* codes, CodeBook* book, Watch& watch) {
  T penalty{};
  if (!book->penalised) {
    if (encode_all<false>(m, codes, T{}, &penalty, watch)) return true;
    if (!(static_cast<double>(penalty) > 255.0)) return false;
    book->penalised = true;
    __builtin_memcpy(&book->penalty, &penalty, sizeof(T));
  }
  if constexpr (sizeof(T) > 1) {  // a byte is no penalty
    __builtin_memcpy(&penalty, &book->penalty, sizeof(T));
    T ignored;
    return encode_all<true>(m, codes, penalty, &ignored, watch);
  }
  return false;
}

// A code is a third one if the smallest and the largest so far differ from it and from each other.
inline void widen_ranges(const MatrixView& m, u8* least, u8* largest, u8* has_more_than_two_values, Watch& watch) {
  for_segments<u8>(m, watch, [&](const u8* __restrict x, i64, i64 c, i64 count) {
    u8* __restrict low = least + c;
    u8* __restrict high = largest + c;
    u8* __restrict more = has_more_than_two_values + c;
    for (i64 i = 0; i < count; ++i) {
      const u8 v = x[i];
      more[i] |= static_cast<u8>((v != low[i]) & (v != high[i]) & (low[i] != high[i]));
      low[i] = v < low[i] ? v : low[i];
      high[i] = v > high[i] ? v : high[i];
    }
    return true;
  });
}

}  // namespace flexicase::FX_ISA

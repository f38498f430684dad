// Reading entries of a matrix of any type, as numbers that the kernels compare.
#pragma once

#include <type_traits>

#include "flexicase/select.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

// Entries of one column for some individuals (null: the first `count`).
template <class Convert, class Out>
void load_entries(const MatrixView& m, i64 c, const i32* individuals, i64 count, Out* out, Convert convert) {
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    const T* column = static_cast<const T*>(m.data) + c * m.col_stride;
    if (individuals == nullptr) {
      for (i64 k = 0; k < count; ++k) out[k] = convert(column[k * m.row_stride]);
    } else {
      for (i64 k = 0; k < count; ++k) out[k] = convert(column[individuals[k] * m.row_stride]);
    }
  });
}

inline void load_ordered(const MatrixView& m, i64 c, const i32* individuals, i64 count, u64* out) {
  load_entries(m, c, individuals, count, out, [](auto v) { return ordered_bits(v); });
}

// The code of an entry that has one, and so is not negative.
template <class T>
FX_INLINE u8 code_of(T v) {
  if constexpr (sizeof(T) == 1) return static_cast<u8>(v);
  const T most = v < static_cast<T>(255) ? v : static_cast<T>(255);
  return static_cast<u8>(most > 0 ? most : T{0});
}

// Codes of neighbouring entries of a row of the caller's matrix.
[[gnu::noinline]] inline void load_codes(const MatrixView& m, i64 row, i64 c, i64 count, u8* __restrict out) {
  with_equality_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    const T* x = static_cast<const T*>(m.data) + row * m.row_stride + c * m.col_stride;
    if (m.col_stride == 1) {
      for (i64 i = 0; i < count; ++i) out[i] = code_of(x[i]);
    } else {
      for (i64 i = 0; i < count; ++i) out[i] = code_of(x[i * m.col_stride]);
    }
  });
}

// As load_ordered, for unique rows of which some have no codes in `values`.
[[gnu::noinline]] inline void load_codes(const BestSets& p, i64 c, const i32* rows, i64 count, u64* out) {
  const u8* codes = static_cast<const u8*>(p.values.data) + c;
  with_equality_type(p.uncoded.type, [&](auto zero) {
    using T = decltype(zero);
    const T* column = static_cast<const T*>(p.uncoded.data) + c * p.uncoded.col_stride;
    for (i64 k = 0; k < count; ++k) {
      const i64 row = rows[k];
      out[k] = row < 0 ? code_of(column[~row * p.uncoded.row_stride]) : codes[row * p.values.row_stride];
    }
  });
}

inline void load_doubles(const MatrixView& m, i64 c, const i32* individuals, i64 count, double* out) {
  load_entries(m, c, individuals, count, out, [](auto v) { return as_double(v); });
}

// Some neighbouring columns, each made contiguous: (count, rows).
inline void load_columns(const MatrixView& m, i64 c, i64 count, double* out) {
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    const T* data = static_cast<const T*>(m.data) + c * m.col_stride;
    for (i64 r = 0; r < m.rows; ++r) {
      const T* x = data + r * m.row_stride;
      __builtin_prefetch(x + 16 * m.row_stride);
      for (i64 j = 0; j < count; ++j) out[j * m.rows + r] = as_double(x[j * m.col_stride]);
    }
  });
}

// Marks, as bits, the cases on which some individuals do not all have the same error.
inline void mark_differences(const MatrixView& m, const i32* individuals, int count, u64* marks) {
  with_equality_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    const T* data = static_cast<const T*>(m.data);
    const T* a = data + individuals[0] * m.row_stride;
    for (i64 c = 0; c < m.cols; c += 64) {
      const i64 wide = m.cols - c < 64 ? m.cols - c : 64;
      u64 word = 0;
      for (int k = 1; k < count; ++k) {
        const T* b = data + individuals[k] * m.row_stride;
        if (sizeof(T) == 1 && m.col_stride == 1 && wide == 64) {
          word |= ~equal_bytes64(reinterpret_cast<const u8*>(a + c), reinterpret_cast<const u8*>(b + c));
          continue;
        }
        u8 flags[64] = {};
        if (m.col_stride == 1) {
          for (i64 j = 0; j < wide; ++j) flags[j] = a[c + j] != b[c + j];
        } else {
          for (i64 j = 0; j < wide; ++j) flags[j] = a[(c + j) * m.col_stride] != b[(c + j) * m.col_stride];
        }
        word |= nonzero_bytes64(flags);
      }
      marks[c / 64] = word;
    }
  });
}

// Whether one individual is at least as good as another on every case of some marks, or the other
// way round: then any of these cases parts them as all of them would.
inline bool one_sided(const MatrixView& m, i64 left, i64 right, const u64* marks) {
  return with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    const T* a = static_cast<const T*>(m.data) + left * m.row_stride;
    const T* b = static_cast<const T*>(m.data) + right * m.row_stride;
    bool left_better = false;
    bool right_better = false;
    for (i64 start = 0; start < m.cols && !(left_better && right_better); start += 64) {
      for (u64 bits = marks[start / 64]; bits != 0; bits &= bits - 1) {
        const i64 c = (start + lowest_bit(bits)) * m.col_stride;
        left_better |= a[c] < b[c];
        right_better |= b[c] < a[c];
      }
    }
    return !(left_better && right_better);
  });
}

}  // namespace flexicase::FX_ISA

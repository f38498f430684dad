// From a matrix of errors to what the events read: minima, sets of best, row hashes, counts.
#pragma once

#include <type_traits>

#include "flexicase/parallel.hpp"
#include "flexicase/select.hpp"
#include "select/isa/encode.hpp"
#include "select/isa/load.hpp"
#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

// An unsigned integer as wide as T, so that loops over T that collect flags stay in vectors.
template <class T>
using Flag =
    std::conditional_t<sizeof(T) == 8, u64,
                       std::conditional_t<sizeof(T) == 4, u32, std::conditional_t<sizeof(T) == 2, std::uint16_t, u8>>>;

template <class T>
FX_INLINE Flag<T> unusable(T v) {
  if constexpr (std::is_floating_point_v<T>) return v == v ? 0 : 1;
  return 0;
}

// Minimum of numbers side by side in memory; sets bits of `bad` if one is NaN.
template <class T>
T minimum(const T* x, i64 count, Flag<T>* bad) {
  constexpr int lanes = 16;
  T least[lanes];
  Flag<T> flags[lanes] = {};
  for (int j = 0; j < lanes; ++j) least[j] = x[0];
  i64 i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int j = 0; j < lanes; ++j) {
      flags[j] |= unusable(x[i + j]);
      least[j] = x[i + j] < least[j] ? x[i + j] : least[j];
    }
  }
  for (; i < count; ++i) {
    flags[0] |= unusable(x[i]);
    least[0] = x[i] < least[0] ? x[i] : least[0];
  }
  T result = least[0];
  for (int j = 0; j < lanes; ++j) {
    *bad |= flags[j];
    result = least[j] < result ? least[j] : result;
  }
  return result;
}

// The better of two entries and the row it is in, or -1 if they are equal. Row numbers are as wide as
// the entries to keep loops in vectors.
template <class T>
struct Holder {
  using Row = std::make_signed_t<Flag<T>>;
  T value;
  Row row;

  [[gnu::always_inline]] Holder better(Holder other) const {
    const Row mine = other.value == value ? Row(-1) : row;
    return {other.value < value ? other.value : value, other.value < value ? other.row : mine};
  }
};

template <class T>
FX_INLINE T lesser(T a, T b) {
  return b < a ? b : a;
}

// Column minima and their rows where rows are contiguous, four rows at a time. Few rows hold a new
// minimum, so a piece of them is only looked at closely if one of its entries is as small as any before.
// Sets bits of `bad` if there is NaN.
template <class T>
void minima_of_rows(const MatrixView& m, T* __restrict minima, i32* __restrict rows, Flag<T>* bad, Watch& watch) {
  using Row = typename Holder<T>::Row;
  constexpr i64 piece = 64 / sizeof(T);
  Row holders[segment_width];
  for (i64 c = 0; c < m.cols; c += segment_width) {
    const i64 count = m.cols - c < segment_width ? m.cols - c : segment_width;
    const T* __restrict x = static_cast<const T*>(m.data) + c;
    T* __restrict least = minima + c;
    Flag<T> unordered[piece] = {};
    const auto note = [](T a, T b) -> Flag<T> {
      if constexpr (std::is_floating_point_v<T>) return __builtin_isunordered(a, b) ? 1 : 0;
      return 0;
    };
    for (i64 i = 0; i < count; ++i) {
      unordered[0] |= note(x[i], x[i]);
      holders[i] = 0;
    }
    i64 r = 1;
    for (; r + 4 <= m.rows; r += 4) {
      const T* __restrict a = x + r * m.row_stride;
      const T* __restrict b = a + m.row_stride;
      const T* __restrict d = b + m.row_stride;
      const T* __restrict e = d + m.row_stride;
      const Row first = static_cast<Row>(r);
      watch.spend(4 * count);
      const auto look_closely = [&](i64 start, i64 end) {
        for (i64 i = start; i < end; ++i) {
          const Holder<T> left = Holder<T>{a[i], first}.better({b[i], Row(first + 1)});
          const Holder<T> right = Holder<T>{d[i], Row(first + 2)}.better({e[i], Row(first + 3)});
          const Holder<T> best = Holder<T>{least[i], holders[i]}.better(left.better(right));
          least[i] = best.value;
          holders[i] = best.row;
        }
      };
      i64 start = 0;
      for (; start + piece <= count; start += piece) {
        Flag<T> small = 0;
        for (i64 i = 0; i < piece; ++i) {
          const i64 at = start + i;
          unordered[i] |= note(a[at], b[at]) | note(d[at], e[at]);
          small |= lesser(lesser(a[at], b[at]), lesser(d[at], e[at])) <= least[at] ? 1 : 0;
        }
        if (small != 0) look_closely(start, start + piece);
      }
      for (i64 i = start; i < count; ++i) unordered[0] |= note(a[i], b[i]) | note(d[i], e[i]);
      look_closely(start, count);
    }
    for (; r < m.rows; ++r) {
      for (i64 i = 0; i < count; ++i) {
        const T v = x[r * m.row_stride + i];
        unordered[0] |= note(v, v);
        const Holder<T> best = Holder<T>{least[i], holders[i]}.better({v, static_cast<Row>(r)});
        least[i] = best.value;
        holders[i] = best.row;
      }
    }
    for (i64 i = 0; i < piece; ++i) *bad |= unordered[i];
    for (i64 i = 0; i < count; ++i) rows[c + i] = static_cast<i32>(holders[i]);
  }
}

// The smallest entry of each column and the one row that has it (-1: several, or not looked for).
// False if there is NaN.
template <class T>
bool column_minima(const MatrixView& m, void* out, i32* rows, Watch& watch) {
  T* __restrict minima = static_cast<T*>(out);
  const T* data = static_cast<const T*>(m.data);
  Flag<T> bad = 0;
  for (i64 c = 0; c < m.cols; ++c) rows[c] = -1;
  if (m.row_stride == 1 && m.col_stride != 1) {
    for (i64 c = 0; c < m.cols; ++c) {
      minima[c] = minimum(data + c * m.col_stride, m.rows, &bad);
      watch.spend(m.rows);
    }
    return bad == 0;
  }
  for (i64 c = 0; c < m.cols; ++c) minima[c] = data[c * m.col_stride];
  if constexpr (sizeof(T) >= 4) {
    if (m.col_stride == 1) {
      minima_of_rows(m, minima, rows, &bad, watch);
      return bad == 0;
    }
  }
  for_segments<T>(m, watch, [&](const T* __restrict x, i64, i64 c, i64 count) {
    T* __restrict least = minima + c;
    Flag<T> here = 0;
    for (i64 i = 0; i < count; ++i) {
      here |= unusable(x[i]);
      least[i] = x[i] < least[i] ? x[i] : least[i];
    }
    bad |= here;
    return true;
  });
  return bad == 0;
}

// For up to 64 cases, whether the codes of a row are their columns' minima.
[[gnu::noinline]] inline u64 best_of_uncoded(const MatrixView& m, i64 row, i64 c, i64 wide, const u8* minima) {
  alignas(64) u8 flags[64] = {};
  load_codes(m, row, c, wide, flags);
  for (i64 j = 0; j < wide; ++j) flags[j] = flags[j] == minima[c + j];
  return nonzero_bytes64(flags);
}

// One bit per entry: is it its column's minimum? Rows come in as masks over 64 cases and are
// turned, 64 rows at a time, into masks over rows.
template <class T>
void find_best(const BestSets& p, const void* minima_in, u64* best, Watch& watch) {
  const T* minima = static_cast<const T*>(minima_in);
  const MatrixView m = p.values;
  const T* data = static_cast<const T*>(m.data);
  const i64 words = p.words;
  const i64 unique_rows = p.unique_rows;
  const i32* rows = p.row_of;
  for (i64 c = 0; c < m.cols; c += 64) {
    const i64 wide = m.cols - c < 64 ? m.cols - c : 64;
    for (i64 w = 0; w < words; ++w) {
      const i64 left = unique_rows - w * 64;
      const i64 high = left < 0 ? 0 : left < 64 ? left : 64;
      u64 block[64] = {};
      watch.spend(20 + 8 * high);
      alignas(64) u8 flags[64] = {};
      for (i64 i = 0; i < high; ++i) {
        const i64 row = rows[w * 64 + i];
        if (row < 0) {
          block[i] = best_of_uncoded(p.uncoded, ~row, c, wide, static_cast<const u8*>(minima_in));
          continue;
        }
        const T* x = data + row * m.row_stride + c * m.col_stride;
        if (m.col_stride != 1) {
          for (i64 j = 0; j < wide; ++j) flags[j] = x[j * m.col_stride] == minima[c + j];
        } else if (wide < 64) {
          for (i64 j = 0; j < wide; ++j) flags[j] = x[j] == minima[c + j];
        } else if constexpr (sizeof(T) == 1) {
          block[i] = equal_bytes64(reinterpret_cast<const u8*>(x), reinterpret_cast<const u8*>(minima + c));
          continue;
        } else {
          for (int j = 0; j < 64; ++j) flags[j] = x[j] == minima[c + j];
        }
        block[i] = nonzero_bytes64(flags);
      }
      if (high > 0) transpose64(block);
      for (i64 j = 0; j < wide; ++j) best[(c + j) * words + w] = block[j];
    }
  }
}

// An entry as 64 bits, the same for equal entries (0.0 and -0.0 are equal).
template <class T>
FX_INLINE u64 bits_of(T v) {
  if constexpr (std::is_same_v<T, double>) {
    return __builtin_bit_cast(u64, v + 0.0);
  } else if constexpr (std::is_same_v<T, float>) {
    return __builtin_bit_cast(u32, v + 0.0f);
  } else {
    return static_cast<u64>(v);
  }
}

// NH (Black et al., UMAC): a sum of products of halves, each word keyed by its place, so that the
// pieces of a row can be added up in any order. Eight one-byte entries make one word.
template <class T>
void row_hashes(const MatrixView& m, const u64* keys, u64* hashes, Watch& watch) {
  for (i64 r = 0; r < m.rows; ++r) hashes[r] = 0;
  const auto product = [](u64 word, u64 k) {
    return ((word + k) & 0xFFFFFFFFu) * (((word >> 32) + (k >> 32)) & 0xFFFFFFFFu);
  };
  for_segments<T>(m, watch, [&](const T* x, i64 r, i64 c, i64 count) {
    const u64* key = keys + c;
    u64 sum = 0;
    if constexpr (sizeof(T) == 1) {
      const i64 whole = count / 8;
      for (i64 i = 0; i < whole; ++i) {
        u64 word;
        __builtin_memcpy(&word, x + 8 * i, 8);
        sum += product(word, key[i]);
      }
      u64 rest = 0;
      for (i64 i = 8 * whole; i < count; ++i) rest = rest << 8 | static_cast<u8>(x[i]);
      sum += product(rest, key[whole]);
    } else {
      for (i64 i = 0; i < count; ++i) sum += product(bits_of(x[i]), key[i]);
    }
    hashes[r] += sum;
    return true;
  });
}

// How many members each set has, and which one if it is alone (else -1).
inline void set_sizes(const u64* sets, i64 count, i64 words, i32* sizes, i32* alone, Watch& watch) {
  for (i64 s = 0; s < count; ++s) {
    watch.spend(words);
    const u64* set = sets + s * words;
    const i64 size = count_ones_of(words, [&](i64 w) { return set[w]; });
    sizes[s] = static_cast<i32>(size);
    alone[s] = -1;
    if (size != 1) continue;
    for (i64 w = 0; w < words; ++w) {
      if (set[w] != 0) alone[s] = static_cast<i32>(w * 64) + lowest_bit(set[w]);
    }
  }
}

template <class T>
void count_zeros(const MatrixView& m, const i32* rows, i64 count, i64* zeros, Watch& watch) {
  const T* data = static_cast<const T*>(m.data);
  if (m.row_stride == 1 && m.col_stride != 1 && rows == nullptr) {
    for (i64 c = 0; c < m.cols; ++c) {
      const T* x = data + c * m.col_stride;
      i64 sum = 0;
      for (i64 r = 0; r < count; ++r) sum += x[r] == 0;
      watch.spend(count);
      zeros[c] += sum;
    }
    return;
  }
  constexpr i64 width = 512;
  for (i64 c = 0; c < m.cols; c += width) {
    const i64 wide = m.cols - c < width ? m.cols - c : width;
    for (i64 top = 0; top < count; top += 255) {
      const i64 end = top + 255 < count ? top + 255 : count;
      watch.spend((end - top) * wide);
      u8 partial[width] = {};
      for (i64 r = top; r < end; ++r) {
        const T* x = data + (rows == nullptr ? r : rows[r]) * m.row_stride + c * m.col_stride;
        if (m.col_stride == 1) {
          for (i64 i = 0; i < wide; ++i) partial[i] = static_cast<u8>(partial[i] + (x[i] == 0));
        } else {
          for (i64 i = 0; i < wide; ++i) partial[i] = static_cast<u8>(partial[i] + (x[i * m.col_stride] == 0));
        }
      }
      for (i64 i = 0; i < wide; ++i) zeros[c + i] += partial[i];
    }
  }
}

}  // namespace flexicase::FX_ISA

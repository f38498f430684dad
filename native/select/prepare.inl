// From a matrix of errors to what the kernels read: codes, minima, sets of best, row hashes.

// Calls f(segment, row, col, count) with contiguous pieces of rows that cover the matrix. Where
// rows are not contiguous, tiles are copied first, along whichever direction is contiguous.
template <class T, class F>
static void for_segments(const MatrixView& m, F&& f) {
  const T* data = static_cast<const T*>(m.data);
  if (m.col_stride == 1) {
    constexpr i64 width = 2048;
    for (i64 c = 0; c < m.cols; c += width) {
      const i64 count = m.cols - c < width ? m.cols - c : width;
      for (i64 r = 0; r < m.rows; ++r) f(data + r * m.row_stride + c, r, c, count);
    }
    return;
  }
  constexpr i64 side = 64;
  T tile[side * side];
  for (i64 c = 0; c < m.cols; c += side) {
    const i64 wide = m.cols - c < side ? m.cols - c : side;
    for (i64 r = 0; r < m.rows; r += side) {
      const i64 high = m.rows - r < side ? m.rows - r : side;
      for (i64 j = 0; j < wide; ++j) {
        const T* column = data + r * m.row_stride + (c + j) * m.col_stride;
        for (i64 i = 0; i < high; ++i) tile[i * side + j] = column[i * m.row_stride];
      }
      for (i64 i = 0; i < high; ++i) f(static_cast<const T*>(tile + i * side), r + i, c, wide);
    }
  }
}

// Codes: an integer from 0 to 254 is its own code; one larger value, a penalty, may be 255.
template <class T>
static bool encode_segment(const T* x, i64 count, u8* code, T penalty, bool has_penalty) {
  int bad = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (i64 i = 0; i < count; ++i) {
      const T v = x[i];
      const T clipped = v >= 0 ? (v <= T{254} ? v : T{255}) : T{255};
      const std::int32_t whole = static_cast<std::int32_t>(clipped);
      const int small = (static_cast<T>(whole) == v) & (v <= T{254});
      const int large = has_penalty & (v == penalty);
      bad |= (small | large) ^ 1;
      code[i] = static_cast<u8>(whole);
    }
  } else {
    for (i64 i = 0; i < count; ++i) {
      const T v = x[i];
      const int small = (v >= 0) & (static_cast<u64>(v) <= 254);
      const int large = has_penalty & (v == penalty);
      bad |= (small | large) ^ 1;
      code[i] = small ? static_cast<u8>(v) : u8{255};
    }
  }
  return bad == 0;
}

template <class T>
static bool encode(const MatrixView& m, u8* codes) {
  T penalty{};
  bool has_penalty = false;
  bool possible = true;
  for_segments<T>(m, [&](const T* x, i64 r, i64 c, i64 count) {
    if (!possible) return;
    u8* out = codes + r * m.cols + c;
    if (encode_segment(x, count, out, penalty, has_penalty)) return;
    for (i64 i = 0; i < count && !has_penalty; ++i) {
      if (x[i] > T(127) && static_cast<double>(x[i]) > 254.0) {
        penalty = x[i];
        has_penalty = true;
      }
    }
    possible = encode_segment(x, count, out, penalty, has_penalty);
  });
  return possible;
}

template <class T>
static bool column_minima(const MatrixView& m, void* out) {
  T* minima = static_cast<T*>(out);
  const T* data = static_cast<const T*>(m.data);
  for (i64 c = 0; c < m.cols; ++c) minima[c] = data[c * m.col_stride];
  int bad = 0;
  const auto usable = [](T v) {
    if constexpr (std::is_floating_point_v<T>) return v > -std::numeric_limits<T>::infinity();
    return true;
  };
  if (m.row_stride == 1 && m.col_stride != 1) {
    for (i64 c = 0; c < m.cols; ++c) {
      const T* x = data + c * m.col_stride;
      T least[16];
      for (int j = 0; j < 16; ++j) least[j] = x[0];
      i64 r = 0;
      for (; r + 16 <= m.rows; r += 16) {
        for (int j = 0; j < 16; ++j) {
          const T v = x[r + j];
          bad |= !usable(v);
          least[j] = v < least[j] ? v : least[j];
        }
      }
      for (; r < m.rows; ++r) {
        bad |= !usable(x[r]);
        least[0] = x[r] < least[0] ? x[r] : least[0];
      }
      for (int j = 0; j < 16; ++j) minima[c] = least[j] < minima[c] ? least[j] : minima[c];
    }
    return bad == 0;
  }
  for_segments<T>(m, [&](const T* x, i64, i64 c, i64 count) {
    T* least = minima + c;
    int here = 0;
    for (i64 i = 0; i < count; ++i) {
      const T v = x[i];
      here |= !usable(v);
      least[i] = v < least[i] ? v : least[i];
    }
    bad |= here;
  });
  return bad == 0;
}

// One bit per entry: is it its column's minimum? Rows come in as masks over 64 cases and are
// turned, 64 rows at a time, into masks over individuals.
template <class T>
static void best_sets(const MatrixView& m, const void* minima_in, u64* best) {
  const T* minima = static_cast<const T*>(minima_in);
  const T* data = static_cast<const T*>(m.data);
  const i64 words = (m.rows + 63) / 64;
  for (i64 c = 0; c < m.cols; c += 64) {
    const i64 wide = m.cols - c < 64 ? m.cols - c : 64;
    for (i64 r = 0; r < m.rows; r += 64) {
      const i64 high = m.rows - r < 64 ? m.rows - r : 64;
      u64 block[64] = {};
      if (m.row_stride == 1 && m.col_stride != 1) {
        for (i64 j = 0; j < wide; ++j) {
          const T* x = data + r + (c + j) * m.col_stride;
          alignas(64) u8 flags[64] = {};
          for (i64 i = 0; i < high; ++i) flags[i] = x[i] == minima[c + j];
          best[(c + j) * words + r / 64] = nonzero_bytes64(flags);
        }
        continue;
      }
      for (i64 i = 0; i < high; ++i) {
        const T* x = data + (r + i) * m.row_stride + c * m.col_stride;
        alignas(64) u8 flags[64] = {};
        if (m.col_stride == 1 && wide == 64) {
          for (int j = 0; j < 64; ++j) flags[j] = x[j] == minima[c + j];
        } else {
          for (i64 j = 0; j < wide; ++j) flags[j] = x[j * m.col_stride] == minima[c + j];
        }
        block[i] = nonzero_bytes64(flags);
      }
      transpose64(block);
      for (i64 j = 0; j < wide; ++j) best[(c + j) * words + r / 64] = block[j];
    }
  }
}

static void two_valued(const MatrixView& m, const u8* minima, u8* flags) {
  const u8* data = static_cast<const u8*>(m.data);
  constexpr i64 width = 256;
  for (i64 c = 0; c < m.cols; c += width) {
    const i64 count = m.cols - c < width ? m.cols - c : width;
    u8 largest[width] = {};
    u8 between[width] = {};
    for (i64 r = 0; r < m.rows; ++r) {
      const u8* x = data + r * m.row_stride + c * m.col_stride;
      for (i64 i = 0; i < count; ++i) largest[i] = x[i * m.col_stride] > largest[i] ? x[i * m.col_stride] : largest[i];
    }
    for (i64 r = 0; r < m.rows; ++r) {
      const u8* x = data + r * m.row_stride + c * m.col_stride;
      for (i64 i = 0; i < count; ++i) {
        const u8 v = x[i * m.col_stride];
        between[i] |= static_cast<u8>((v != minima[c + i]) & (v != largest[i]));
      }
    }
    for (i64 i = 0; i < count; ++i) flags[c + i] = between[i] == 0;
  }
}

// An entry as 64 bits, the same for equal entries (0.0 and -0.0 are equal).
template <class T>
FX_INLINE u64 bits_of(T v) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<u64>(v + 0.0);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<u32>(v + 0.0f);
  } else {
    return static_cast<u64>(v);
  }
}

// NH (Black et al., UMAC): a sum of products of halves, keyed per column, so order-free.
template <class T>
static void row_hashes(const MatrixView& m, const u64* keys, u64* hashes) {
  for (i64 r = 0; r < m.rows; ++r) hashes[r] = 0;
  for_segments<T>(m, [&](const T* x, i64 r, i64 c, i64 count) {
    u64 sum = 0;
    const u64* key = keys + c;
    i64 i = 0;
    if constexpr (sizeof(T) == 1) {
      // Eight entries make one word, keyed by its first column; pieces start at multiples of 8.
      for (; i + 8 <= count; i += 8) {
        u64 word;
        __builtin_memcpy(&word, x + i, 8);
        const u64 k = key[i];
        sum += (static_cast<u32>(word) + (k & 0xFFFFFFFFu) & 0xFFFFFFFFu) * ((word >> 32) + (k >> 32) & 0xFFFFFFFFu);
      }
    }
    for (; i < count; ++i) {
      const u64 word = bits_of(x[i]);
      const u64 k = key[i];
      sum += ((word + k) & 0xFFFFFFFFu) * (((word >> 32) + (k >> 32)) & 0xFFFFFFFFu);
    }
    hashes[r] += sum;
  });
}

template <class T>
static void count_zeros(const MatrixView& m, i64* zeros) {
  const T* data = static_cast<const T*>(m.data);
  for (i64 c = 0; c < m.cols; ++c) zeros[c] = 0;
  if (m.row_stride == 1 && m.col_stride != 1) {
    for (i64 c = 0; c < m.cols; ++c) {
      const T* x = data + c * m.col_stride;
      i64 sum = 0;
      for (i64 r = 0; r < m.rows; ++r) sum += x[r] == 0;
      zeros[c] = sum;
    }
    return;
  }
  constexpr i64 width = 512;
  for (i64 c = 0; c < m.cols; c += width) {
    const i64 count = m.cols - c < width ? m.cols - c : width;
    for (i64 top = 0; top < m.rows; top += 255) {
      const i64 end = top + 255 < m.rows ? top + 255 : m.rows;
      u8 partial[width] = {};
      for (i64 r = top; r < end; ++r) {
        const T* x = data + r * m.row_stride + c * m.col_stride;
        if (m.col_stride == 1) {
          for (i64 i = 0; i < count; ++i) partial[i] = static_cast<u8>(partial[i] + (x[i] == 0));
        } else {
          for (i64 i = 0; i < count; ++i) partial[i] = static_cast<u8>(partial[i] + (x[i * m.col_stride] == 0));
        }
      }
      for (i64 i = 0; i < count; ++i) zeros[c + i] += partial[i];
    }
  }
}

// Counting members of sets, and zeros of columns.

// How many members each set has, and which one if it is alone (else -1).
static void set_sizes(const u64* sets, i64 count, i64 words, i32* sizes, i32* alone, Watch& watch) {
  for (i64 s = 0; s < count; ++s) {
    watch.spend(words);
    const u64* set = sets + s * words;
    const i64 size = count_ones(words, [&](i64 w) { return set[w]; });
    sizes[s] = static_cast<i32>(size);
    alone[s] = -1;
    if (size != 1) continue;
    for (i64 w = 0; w < words; ++w) {
      if (set[w] != 0) alone[s] = static_cast<i32>(w * 64) + lowest_bit(set[w]);
    }
  }
}

template <class T>
static void count_zeros(const MatrixView& m, const i32* rows, i64 count, i64* zeros, Watch& watch) {
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

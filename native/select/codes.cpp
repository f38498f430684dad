#include "flexicase/codes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "flexicase/parallel.hpp"

namespace flexicase {

namespace {

constexpr std::int64_t small_matrix = std::int64_t{1} << 14;  // entries; there memory does not matter

// Rows that are coded together: few enough to stay in the cache, or as many as use up cache lines.
std::int64_t block_rows(const MatrixView& m) {
  return m.col_stride == 1 ? std::clamp<std::int64_t>(8192 / m.cols, 16, 64) : 64;
}

const std::byte* row_address(const MatrixView& m, std::int64_t row) {
  return with_type(m.type, [&]<class T>(T) {
    return reinterpret_cast<const std::byte*>(static_cast<const T*>(m.data) + row * m.row_stride);
  });
}

// UniqueRows whose codes fit into a byte per entry of the matrix, beside so many other bytes.
std::int64_t rows_beside(const MatrixView& m, std::int64_t other_bytes) {
  if (m.rows * m.cols <= small_matrix) return m.rows;
  return std::clamp<std::int64_t>(m.rows - (other_bytes + m.cols - 1) / m.cols, 0, m.rows);
}

// While the matrix is read: groups, the rows' unique rows, hash keys, ranges, and a block of rows.
std::int64_t rows_while_reading(const MatrixView& m) {
  const auto per_row = static_cast<std::int64_t>(RowGroups::bytes_per_row + sizeof(std::int32_t));
  return rows_beside(m, m.rows * per_row + (block_rows(m) + 11) * m.cols);
}

// Later: sets of best, lists of individuals and unique rows, what is kept per case, and the scratch space of a draw.
std::int64_t rows_while_drawing(const MatrixView& m, std::int64_t unique_rows) {
  const std::int64_t set_bytes = (unique_rows + 511) / 512 * 64;
  const std::int64_t lists = (unique_rows < m.rows ? 8 * m.rows + 12 * unique_rows : 12 * unique_rows) + 8 * set_bytes;
  return rows_beside(m, (set_bytes + 48) * m.cols + lists + 24 * unique_rows);
}

template <class T>
bool same(const MatrixView& m, std::int64_t a, std::int64_t b) {
  const T* x = static_cast<const T*>(m.data) + a * m.row_stride;
  const T* y = static_cast<const T*>(m.data) + b * m.row_stride;
  if (m.col_stride == 1 && std::is_integral_v<T>) {
    return std::memcmp(x, y, static_cast<std::size_t>(m.cols) * sizeof(T)) == 0;
  }
  for (std::int64_t c = 0; c < m.cols; ++c) {
    if (x[c * m.col_stride] != y[c * m.col_stride]) return false;
  }
  return true;
}

void shrink(Memory<std::uint8_t>& bytes, std::size_t size) {
  if (void* smaller = std::realloc(bytes.get(), std::max<std::size_t>(size, 1))) {
    static_cast<void>(bytes.release());
    bytes.reset(static_cast<std::uint8_t*>(smaller));
  }
}

}  // namespace

bool same_rows(const MatrixView& m, std::int64_t a, std::int64_t b) {
  return with_type(m.type, [&]<class T>(T) { return same<T>(m, a, b); });
}

std::vector<std::uint64_t> hash_keys(std::int64_t cols) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(cols) + 16);
  for (std::size_t c = 0; c < keys.size(); ++c) keys[c] = mix64((c + 1) * golden);
  return keys;
}

CodeRanges CodeRanges::of(const MatrixView& codes, Watch& watch) {
  CodeRanges ranges;
  const auto* first = static_cast<const std::uint8_t*>(codes.data);
  for (std::int64_t c = 0; c < codes.cols; ++c) ranges.least.push_back(first[c * codes.col_stride]);
  ranges.largest = ranges.least;
  ranges.has_more_than_two_values.resize(ranges.least.size());
  isa().widen_ranges(codes, ranges.least.data(), ranges.largest.data(), ranges.has_more_than_two_values.data(), watch);
  return ranges;
}

std::optional<Codes> Codes::of(const MatrixView& m, Watch& watch) {
  const auto cols = static_cast<std::size_t>(m.cols);
  const std::int64_t height = block_rows(m);
  const std::int64_t room = rows_while_reading(m);
  const std::vector<std::uint64_t> keys = hash_keys(m.cols);
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(height));
  Memory<std::uint8_t> aside;  // a block for which there is no room among the codes
  RowGroups groups(static_cast<std::size_t>(m.rows));
  CodeBook book;
  Codes out;
  out.bytes = allocate<std::uint8_t>(static_cast<std::size_t>(room) * cols);
  out.first_equal.resize(static_cast<std::size_t>(m.rows));
  for (std::int64_t top = 0; top < m.rows; top += height) {
    const std::int64_t count = std::min(height, m.rows - top);
    const bool fits = out.coded + count <= room;
    if (!fits && !aside) aside = allocate<std::uint8_t>(static_cast<std::size_t>(height) * cols);
    std::uint8_t* place = fits ? out.bytes.get() + static_cast<std::size_t>(out.coded) * cols : aside.get();
    const bool was_penalised = book.penalised;
    const MatrixView rows{row_address(m, top), m.type, count, m.cols, m.row_stride, m.col_stride};
    if (!isa().encode(rows, place, &book, watch)) return {};
    if (book.penalised && !was_penalised) {  // 255 has got another meaning
      const auto& largest = out.ranges.largest;
      if (std::find(largest.begin(), largest.end(), 255) != largest.end()) return {};
    }
    const MatrixView block{place, DType::u8, count, m.cols, m.cols, 1};
    if (top == 0) {
      out.ranges = CodeRanges::of(block, watch);
    } else {
      isa().widen_ranges(block, out.ranges.least.data(), out.ranges.largest.data(),
                         out.ranges.has_more_than_two_values.data(), watch);
    }
    isa().row_hashes(block, keys.data(), hashes.data(), watch);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = top + i;
      const std::uint8_t* x = place + static_cast<std::size_t>(i) * cols;
      const auto is_like = [&](std::int32_t unique) {
        watch.spend(m.cols);
        if (unique >= out.coded) return same_rows(m, groups.first()[static_cast<std::size_t>(unique)], row);
        return std::memcmp(out.bytes.get() + static_cast<std::size_t>(unique) * cols, x, cols) == 0;
      };
      const auto [unique, is_new] =
          groups.add(static_cast<std::int32_t>(row), hashes[static_cast<std::size_t>(i)], is_like);
      out.first_equal[static_cast<std::size_t>(row)] = groups.first()[static_cast<std::size_t>(unique)];
      if (!is_new || unique != out.coded || out.coded == room) continue;
      std::uint8_t* to = out.bytes.get() + static_cast<std::size_t>(out.coded++) * cols;
      if (to != x) std::memcpy(to, x, cols);
    }
  }
  out.unique_rows = static_cast<std::int64_t>(groups.first().size());
  out.fit(m);
  return out;
}

void Codes::fit(const MatrixView& m) {
  coded = std::min(coded, rows_while_drawing(m, unique_rows));
  shrink(bytes, static_cast<std::size_t>(coded * m.cols));
}

}  // namespace flexicase

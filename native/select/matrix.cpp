#include "flexicase/matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace flexicase {

namespace {

std::size_t entry_size(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8: return 1;
    case DType::u16:
    case DType::i16: return 2;
    case DType::u32:
    case DType::i32:
    case DType::f32: return 4;
    default: return 8;
  }
}

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

template <class T>
bool same_row(const MatrixView& m, std::int64_t a, std::int64_t b) {
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

}  // namespace

Matrix::Matrix(const MatrixView& view) : original_(view), values_(view) {
  if (view.cols == 0) return;
  if (view.type != DType::u8) {
    auto codes = std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(view.rows * view.cols));
    if (isa().encode(view, codes.get())) {
      codes_ = std::move(codes);
      values_ = {codes_.get(), DType::u8, view.rows, view.cols, view.cols, 1};
    }
  }
  minima_.resize((static_cast<std::size_t>(view.cols) * entry_size(values_.type) + 7) / 8);
  usable_ = isa().column_minima(values_, minima_.data());
}

std::optional<std::pair<std::int64_t, std::int64_t>> Matrix::bad_entry() const {
  if (usable_) return std::nullopt;
  return with_type(original_.type, [&](auto zero) -> std::optional<std::pair<std::int64_t, std::int64_t>> {
    using T = decltype(zero);
    const T* data = static_cast<const T*>(original_.data);
    for (std::int64_t r = 0; r < original_.rows; ++r) {
      for (std::int64_t c = 0; c < original_.cols; ++c) {
        const double v = static_cast<double>(data[r * original_.row_stride + c * original_.col_stride]);
        if (!(v > -std::numeric_limits<double>::infinity())) return std::pair{r, c};
      }
    }
    return std::nullopt;
  });
}

std::size_t Matrix::memory() const {
  const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return (codes_ ? static_cast<std::size_t>(values_.rows * values_.cols) : 0) + bytes(minima_) + bytes(best_) +
         bytes(best_count_) + bytes(best_kinds_) + bytes(only_best_) + bytes(two_valued_) + bytes(kind_) +
         bytes(first_of_kind_);
}

std::vector<std::int64_t> Matrix::zeros() const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(values_.cols));
  if (values_.cols > 0) isa().count_zeros(values_, counts.data());
  return counts;
}

const std::vector<std::int32_t>& Matrix::kinds() {
  if (kind_.empty()) group_rows();
  return kind_;
}

std::int64_t Matrix::kind_count() {
  kinds();
  return kind_count_;
}

void Matrix::group_rows() {
  const auto rows = static_cast<std::size_t>(values_.rows);
  const auto cols = static_cast<std::size_t>(values_.cols);
  std::vector<std::uint64_t> keys(cols + 16);
  for (std::size_t c = 0; c < keys.size(); ++c) keys[c] = mix64((c + 1) * golden);
  std::vector<std::uint64_t> hashes(rows);
  isa().row_hashes(values_, keys.data(), hashes.data());

  const std::size_t slots = std::bit_ceil(2 * rows + 1);
  std::vector<std::int32_t> table(slots, -1);
  kind_.resize(rows);
  first_of_kind_.assign((rows + 63) / 64, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t slot = mix64(hashes[r]) & (slots - 1);
    for (;; slot = (slot + 1) & (slots - 1)) {
      const std::int32_t other = table[slot];
      if (other < 0) {
        table[slot] = static_cast<std::int32_t>(r);
        kind_[r] = static_cast<std::int32_t>(r);
        first_of_kind_[r / 64] |= std::uint64_t{1} << (r % 64);
        ++kind_count_;
        break;
      }
      if (hashes[static_cast<std::size_t>(other)] == hashes[r] && with_type(values_.type, [&](auto zero) {
            return same_row<decltype(zero)>(values_, other, static_cast<std::int64_t>(r));
          })) {
        kind_[r] = other;
        break;
      }
    }
  }
}

void Matrix::build_sets() {
  const auto cols = static_cast<std::size_t>(values_.cols);
  const auto words = static_cast<std::size_t>((values_.rows + 63) / 64);
  best_.resize(cols * words);
  if (cols > 0) isa().best_sets(values_, minima_.data(), best_.data());
  best_count_.resize(cols);
  only_best_.resize(cols);
  all_single_ = true;
  for (std::size_t c = 0; c < cols; ++c) {
    const std::uint64_t* set = best_.data() + c * words;
    std::int32_t count = 0;
    std::int32_t last = -1;
    for (std::size_t w = 0; w < words; ++w) {
      count += std::popcount(set[w]);
      if (set[w] != 0) last = static_cast<std::int32_t>(w * 64) + std::countr_zero(set[w]);
    }
    best_count_[c] = count;
    only_best_[c] = count == 1 ? last : -1;
    all_single_ = all_single_ && count == 1;
  }
  planes_.values = values_;
  planes_.words = static_cast<std::int64_t>(words);
  planes_.best = best_.data();
  planes_.best_count = best_count_.data();
  planes_.only_best = only_best_.data();
  planes_.kinds = values_.rows;
}

const Planes& Matrix::planes(bool with_kinds) {
  if (planes_.words == 0) build_sets();
  if (planes_have_kinds_ || (all_single_ && !with_kinds && values_.cols > 0)) return planes_;
  kinds();
  const auto cols = static_cast<std::size_t>(values_.cols);
  const auto words = static_cast<std::size_t>(planes_.words);
  best_kinds_.resize(cols);
  for (std::size_t c = 0; c < cols; ++c) {
    std::int32_t count = 0;
    for (std::size_t w = 0; w < words; ++w) count += std::popcount(best_[c * words + w] & first_of_kind_[w]);
    best_kinds_[c] = count;
  }
  if (values_.type == DType::u8 && cols > 0 && !all_single_) {
    two_valued_.resize(cols);
    isa().two_valued(values_, reinterpret_cast<const std::uint8_t*>(minima_.data()), two_valued_.data());
    planes_.two_valued = two_valued_.data();
  }
  planes_.kind = kind_.data();
  planes_.first_of_kind = first_of_kind_.data();
  planes_.best_kinds = best_kinds_.data();
  planes_.kinds = kind_count_;
  planes_have_kinds_ = true;
  return planes_;
}

}  // namespace flexicase

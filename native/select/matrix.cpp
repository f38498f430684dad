#include "flexicase/matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

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
  std::uint8_t first_row[64];
  const MatrixView corner{view.data,       view.type,      1, std::min<std::int64_t>(view.cols, 64),
                          view.row_stride, view.col_stride};
  if (view.type != DType::u8 && isa().encode(corner, first_row)) {
    auto codes = allocate<std::uint8_t>(static_cast<std::size_t>(view.rows * view.cols));
    if (isa().encode(view, codes.get())) {
      codes_ = std::move(codes);
      values_ = {codes_.get(), DType::u8, view.rows, view.cols, view.cols, 1};
    }
  }
  minima_.resize((static_cast<std::size_t>(view.cols) * entry_size(values_.type) + 7) / 8);
  only_best_.resize(static_cast<std::size_t>(view.cols));
  usable_ = isa().column_minima(values_, minima_.data(), only_best_.data());
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
  const auto bytes = [](const auto&... v) { return ((v.capacity() * sizeof(v[0])) + ...); };
  return (codes_ ? static_cast<std::size_t>(values_.rows * values_.cols) : 0) +
         bytes(minima_, kind_, row_of_kind_, members_, member_start_, multiplicity_, best_, best_kinds_, only_best_,
               two_valued_);
}

std::vector<std::int64_t> Matrix::zeros() const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(values_.cols));
  const MatrixView& everyone = values_.rows == original_.rows ? values_ : original_;
  if (values_.cols > 0) isa().count_zeros(everyone, counts.data());
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
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t slot = mix64(hashes[r]) & (slots - 1);
    for (;; slot = (slot + 1) & (slots - 1)) {
      const std::int32_t other = table[slot];
      if (other < 0) {
        table[slot] = kind_[r] = static_cast<std::int32_t>(r);
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

// Keeps the codes of one individual of each kind.
void Matrix::drop_duplicate_codes() {
  if (!codes_ || planes_.kinds == values_.rows) return;
  const auto cols = static_cast<std::size_t>(values_.cols);
  const auto kinds = static_cast<std::size_t>(planes_.kinds);
  for (std::size_t k = 0; k < kinds; ++k) {
    const auto row = static_cast<std::size_t>(row_of_kind_[k]);
    if (row != k) std::memcpy(codes_.get() + k * cols, codes_.get() + row * cols, cols);
  }
  std::iota(row_of_kind_.begin(), row_of_kind_.end(), 0);
  if (void* smaller = std::realloc(codes_.get(), kinds * cols)) {
    static_cast<void>(codes_.release());
    codes_.reset(static_cast<std::uint8_t*>(smaller));
  }
  values_ = {codes_.get(), DType::u8, planes_.kinds, values_.cols, values_.cols, 1};
  planes_.values = values_;
}

// Numbers the kinds and lists the individuals of each; if they are not known, every row is one.
void Matrix::list_members() {
  const auto rows = static_cast<std::size_t>(values_.rows);
  planes_.values = values_;
  planes_.individuals = original_.rows;
  if (kind_.empty()) {
    member_start_.resize(rows + 1);
    std::iota(member_start_.begin(), member_start_.end(), 0);
    planes_.kinds = values_.rows;
    planes_.row_of_kind = planes_.members = planes_.member_start = member_start_.data();
    return;
  }
  std::vector<std::int32_t> number(rows);
  row_of_kind_.clear();
  member_start_.clear();
  for (std::size_t r = 0; r < rows; ++r) {
    if (kind_[r] != static_cast<std::int32_t>(r)) {
      number[r] = number[static_cast<std::size_t>(kind_[r])];
      ++member_start_[static_cast<std::size_t>(number[r])];
      continue;
    }
    number[r] = static_cast<std::int32_t>(row_of_kind_.size());
    row_of_kind_.push_back(static_cast<std::int32_t>(r));
    member_start_.push_back(1);
  }
  const std::size_t kinds = row_of_kind_.size();
  planes_.kinds = static_cast<std::int64_t>(kinds);
  planes_.words = static_cast<std::int64_t>((kinds + 511) / 512 * 8);

  const auto words = static_cast<std::size_t>(planes_.words);
  planes_.multiplicity_bits =
      std::bit_width(static_cast<std::uint32_t>(*std::max_element(member_start_.begin(), member_start_.end())));
  multiplicity_.assign(static_cast<std::size_t>(planes_.multiplicity_bits) * words, 0);
  std::int32_t start = 0;
  for (std::size_t k = 0; k < kinds; ++k) {
    const std::int32_t size = std::exchange(member_start_[k], start);
    start += size;
    for (auto digits = static_cast<std::uint32_t>(size); digits != 0; digits &= digits - 1) {
      const auto b = static_cast<std::size_t>(std::countr_zero(digits));
      multiplicity_[b * words + k / 64] |= std::uint64_t{1} << (k % 64);
    }
  }
  members_.resize(rows);
  std::vector<std::int32_t> at = member_start_;
  for (std::size_t r = 0; r < rows; ++r)
    members_[static_cast<std::size_t>(at[static_cast<std::size_t>(number[r])]++)] = static_cast<std::int32_t>(r);
  member_start_.push_back(start);

  planes_.row_of_kind = row_of_kind_.data();
  planes_.member_start = member_start_.data();
  planes_.members = members_.data();
  planes_.multiplicity = multiplicity_.data();
}

void Matrix::build_sets() {
  const auto cols = static_cast<std::size_t>(values_.cols);
  best_.resize(cols * static_cast<std::size_t>(planes_.words));
  best_kinds_.resize(cols);
  only_best_.resize(cols);
  isa().best_sets(values_, minima_.data(), row_of_kind_.data(), planes_.kinds, planes_.words, best_.data());
  isa().set_sizes(best_.data(), values_.cols, planes_.words, best_kinds_.data(), only_best_.data());
  planes_.best = best_.data();
  planes_.best_kinds = best_kinds_.data();
  planes_.only_best = only_best_.data();
}

const Planes& Matrix::planes(bool counts) {
  if (counted_ || (ready_ && !counts)) return planes_;
  if (!counts && values_.cols > 0) {
    ready_ = std::none_of(only_best_.begin(), only_best_.end(), [](std::int32_t only) { return only < 0; });
    if (ready_) {
      list_members();
      planes_.only_best = only_best_.data();
      return planes_;
    }
  }
  kinds();
  list_members();
  drop_duplicate_codes();
  build_sets();
  if (values_.type == DType::u8 && values_.cols > 0) {
    two_valued_.resize(static_cast<std::size_t>(values_.cols));
    isa().two_valued(values_, reinterpret_cast<const std::uint8_t*>(minima_.data()), two_valued_.data());
    planes_.two_valued = two_valued_.data();
  }
  ready_ = counted_ = true;
  return planes_;
}

}  // namespace flexicase

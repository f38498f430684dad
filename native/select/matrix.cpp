#include "flexicase/matrix.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "flexicase/row_groups.hpp"

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

}  // namespace

Matrix::Matrix(const MatrixView& view) : original_(view), values_(view) {
  if (view.cols == 0) return;
  only_best_.assign(static_cast<std::size_t>(view.cols), -1);
  if (find_codes()) return;
  minima_.resize((static_cast<std::size_t>(view.cols) * entry_size(view.type) + 7) / 8);
  usable_ = isa().column_minima(view, minima_.data(), only_best_.data());
  if (view.type != DType::i8) return;
  const auto* least = reinterpret_cast<const std::int8_t*>(minima_.data());
  if (std::all_of(least, least + view.cols, [](std::int8_t v) { return v >= 0; })) values_.type = DType::u8;
}

// Codes take the place of wider entries.
bool Matrix::find_codes() {
  if (entry_size(original_.type) == 1) return false;
  std::uint8_t first_row[64];
  CodeBook book;
  const MatrixView corner{original_.data,       original_.type,      1, std::min<std::int64_t>(original_.cols, 64),
                          original_.row_stride, original_.col_stride};
  if (!isa().encode(corner, first_row, &book)) return false;
  std::optional<Codes> codes = Codes::of(original_);
  if (!codes) return false;
  codes_ = std::move(*codes);
  kind_ = std::move(codes_.kind);
  kind_count_ = codes_.kinds;
  values_ = {codes_.bytes.get(), DType::u8, codes_.coded, original_.cols, original_.cols, 1};
  return true;
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
  return static_cast<std::size_t>(codes_.coded * original_.cols) +
         bytes(minima_, kind_, row_of_kind_, members_, member_start_, multiplicity_, best_, best_kinds_, only_best_,
               codes_.ranges.least, codes_.ranges.largest, codes_.ranges.several);
}

std::vector<std::int64_t> Matrix::zeros() const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(original_.cols));
  if (!codes_.bytes) {
    if (original_.cols > 0) isa().count_zeros(original_, nullptr, original_.rows, counts.data());
    return counts;
  }
  std::vector<std::int32_t> coded = numbers();
  std::vector<std::int32_t> others;
  for (std::size_t r = 0; r < kind_.size(); ++r) {
    if (coded[r] >= codes_.coded) others.push_back(static_cast<std::int32_t>(r));
  }
  std::erase_if(coded, [&](std::int32_t kind) { return kind >= codes_.coded; });
  isa().count_zeros(values_, coded.data(), static_cast<std::int64_t>(coded.size()), counts.data());
  isa().count_zeros(original_, others.data(), static_cast<std::int64_t>(others.size()), counts.data());
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
  std::vector<std::uint64_t> hashes(rows);
  isa().row_hashes(values_, hash_keys(values_.cols).data(), hashes.data());
  RowGroups groups(rows);
  kind_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto is_like = [&](std::int32_t kind) {
      return same_rows(values_, groups.first()[static_cast<std::size_t>(kind)], static_cast<std::int64_t>(r));
    };
    const std::int32_t kind = groups.add(static_cast<std::int32_t>(r), hashes[r], is_like).first;
    kind_[r] = groups.first()[static_cast<std::size_t>(kind)];
  }
  kind_count_ = static_cast<std::int64_t>(groups.first().size());
}

// (rows,) the kind of each individual, numbered in the order in which they first come.
std::vector<std::int32_t> Matrix::numbers() const {
  std::vector<std::int32_t> number(kind_.size());
  std::int32_t next = 0;
  for (std::size_t r = 0; r < kind_.size(); ++r) {
    const auto first = static_cast<std::size_t>(kind_[r]);
    number[r] = first == r ? next++ : number[first];
  }
  return number;
}

// Lists the individuals of each kind; if kinds are not known, or all rows differ, every row is one.
void Matrix::list_members() {
  const auto rows = static_cast<std::size_t>(original_.rows);
  planes_.individuals = original_.rows;
  if (kind_.empty() || kind_count_ == original_.rows) {
    planes_.kinds = original_.rows;
    member_start_.resize(rows + 1);
    std::iota(member_start_.begin(), member_start_.end(), 0);
    planes_.members = planes_.member_start = member_start_.data();
    return;
  }
  planes_.kinds = kind_count_;
  const std::vector<std::int32_t> number = numbers();
  member_start_.assign(static_cast<std::size_t>(kind_count_) + 1, 0);
  for (const std::int32_t kind : number) ++member_start_[static_cast<std::size_t>(kind) + 1];
  std::partial_sum(member_start_.begin(), member_start_.end(), member_start_.begin());
  members_.resize(rows);
  std::vector<std::int32_t> at = member_start_;
  for (std::size_t r = 0; r < rows; ++r)
    members_[static_cast<std::size_t>(at[static_cast<std::size_t>(number[r])]++)] = static_cast<std::int32_t>(r);
  planes_.member_start = member_start_.data();
  planes_.members = members_.data();
}

// Where the errors of each kind are.
void Matrix::list_rows() {
  planes_.values = values_;
  if (planes_.members == planes_.member_start && !codes_.bytes) {
    planes_.row_of_kind = planes_.members;
    return;
  }
  row_of_kind_.resize(static_cast<std::size_t>(planes_.kinds));
  for (std::int64_t k = 0; k < planes_.kinds; ++k) {
    const std::int32_t first = planes_.members[planes_.member_start[k]];
    const auto coded = static_cast<std::int32_t>(k < codes_.coded ? k : ~std::int64_t{first});
    row_of_kind_[static_cast<std::size_t>(k)] = codes_.bytes ? coded : first;
  }
  planes_.row_of_kind = row_of_kind_.data();
  if (codes_.bytes && codes_.coded < planes_.kinds) planes_.uncoded = original_;
}

// The sizes of the kinds, digit by digit.
void Matrix::list_sizes() {
  const auto words = static_cast<std::size_t>(planes_.words);
  const auto size = [&](std::int64_t k) {
    return static_cast<std::uint32_t>(planes_.member_start[k + 1] - planes_.member_start[k]);
  };
  std::uint32_t largest = 1;
  for (std::int64_t k = 0; k < planes_.kinds; ++k) largest = std::max(largest, size(k));
  planes_.multiplicity_bits = std::bit_width(largest);
  multiplicity_.assign(static_cast<std::size_t>(planes_.multiplicity_bits) * words, 0);
  for (std::int64_t k = 0; k < planes_.kinds; ++k) {
    for (std::uint32_t digits = size(k); digits != 0; digits &= digits - 1) {
      const auto b = static_cast<std::size_t>(std::countr_zero(digits));
      multiplicity_[b * words + static_cast<std::size_t>(k / 64)] |= std::uint64_t{1} << (k % 64);
    }
  }
  planes_.multiplicity = multiplicity_.data();
}

void Matrix::build_sets() {
  const auto cols = static_cast<std::size_t>(values_.cols);
  best_.resize(cols * static_cast<std::size_t>(planes_.words));
  best_kinds_.resize(cols);
  only_best_.resize(cols);
  const void* minima = codes_.bytes ? static_cast<const void*>(codes_.ranges.least.data()) : minima_.data();
  isa().best_sets(planes_, minima, best_.data());
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
      list_rows();
      planes_.only_best = only_best_.data();
      return planes_;
    }
  }
  kinds();
  list_members();
  list_rows();
  planes_.words = (planes_.kinds + 511) / 512 * 8;
  list_sizes();
  build_sets();
  if (values_.type == DType::u8 && values_.cols > 0) {
    if (!codes_.bytes) codes_.ranges = CodeRanges::of(values_);
    planes_.several = codes_.ranges.several.data();
  }
  ready_ = counted_ = true;
  return planes_;
}

}  // namespace flexicase

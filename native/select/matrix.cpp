#include "flexicase/matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
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

// (rows,) the unique row of each individual, numbered in the order in which they first come.
std::vector<std::int32_t> numbers(const std::vector<std::int32_t>& unique_rows) {
  std::vector<std::int32_t> number(unique_rows.size());
  std::int32_t next = 0;
  for (std::size_t r = 0; r < unique_rows.size(); ++r) {
    const auto first = static_cast<std::size_t>(unique_rows[r]);
    number[r] = first == r ? next++ : number[first];
  }
  return number;
}

}  // namespace

Matrix::Matrix(const MatrixView& view) : original_(view), values_(view) {
  if (view.cols == 0) return;
  Watch watch;
  if (find_codes(watch)) return;
  minima_.resize((static_cast<std::size_t>(view.cols) * entry_size(view.type) + 7) / 8);
  only_best_.resize(static_cast<std::size_t>(view.cols));
  usable_ = isa().column_minima(view, minima_.data(), only_best_.data(), watch);
  first_case_decides_ = std::all_of(only_best_.begin(), only_best_.end(), [](std::int32_t row) { return row >= 0; });
  if (view.type != DType::i8) return;
  const auto* least = reinterpret_cast<const std::int8_t*>(minima_.data());
  if (std::all_of(least, least + view.cols, [](std::int8_t v) { return v >= 0; })) values_.type = DType::u8;
}

// Codes take the place of wider entries.
bool Matrix::find_codes(Watch& watch) {
  if (entry_size(original_.type) == 1) return false;
  std::uint8_t first_row[64];
  CodeBook book;
  const MatrixView corner{original_.data,       original_.type,      1, std::min<std::int64_t>(original_.cols, 64),
                          original_.row_stride, original_.col_stride};
  if (!isa().encode(corner, first_row, &book, watch)) return false;
  std::optional<Codes> codes = Codes::of(original_, watch);
  if (!codes) return false;
  codes_ = std::move(*codes);
  unique_rows_.get([&] { return UniqueRows{std::move(codes_.first_equal), codes_.unique_rows}; });
  values_ = {codes_.bytes.get(), DType::u8, codes_.coded, original_.cols, original_.cols, 1};
  return true;
}

// Row and column of the first entry, by rows, that passes a test.
template <class T, class Test>
std::optional<std::pair<std::int64_t, std::int64_t>> Matrix::first_entry(Test&& test) const {
  Watch watch;
  const T* data = static_cast<const T*>(original_.data);
  for (std::int64_t r = 0; r < original_.rows; ++r) {
    for (std::int64_t c = 0; c < original_.cols; ++c) {
      if (test(data[r * original_.row_stride + c * original_.col_stride])) return std::pair{r, c};
    }
    watch.spend(2 * original_.cols);
  }
  return std::nullopt;
}

std::optional<std::pair<std::int64_t, std::int64_t>> Matrix::bad_entry() const {
  if (usable_) return std::nullopt;
  return with_type(original_.type, [&](auto zero) {
    return first_entry<decltype(zero)>([](auto v) { return std::isnan(static_cast<double>(v)); });
  });
}

std::optional<std::pair<std::int64_t, std::int64_t>> Matrix::inexact_entry() const {
  const auto is_inexact = [](auto v) {
    constexpr double beyond = std::is_signed_v<decltype(v)> ? 0x1p63 : 0x1p64;
    const auto rounded = static_cast<double>(v);
    return rounded >= beyond || static_cast<decltype(v)>(rounded) != v;
  };
  if (original_.type == DType::i64) return first_entry<std::int64_t>(is_inexact);
  if (original_.type == DType::u64) return first_entry<std::uint64_t>(is_inexact);
  return std::nullopt;
}

std::size_t Matrix::OwnBestSets::bytes() const {
  const auto sum = [](const auto&... v) { return ((v.capacity() * sizeof(v[0])) + ...); };
  return sum(row_of, members, member_start, multiplicity, best, n_best, only_best, has_more_than_two_values);
}

std::size_t Matrix::memory() const {
  const auto bytes = [](const auto&... v) { return ((v.capacity() * sizeof(v[0])) + ...); };
  std::size_t sum =
      static_cast<std::size_t>(codes_.coded * original_.cols) +
      bytes(minima_, only_best_, codes_.ranges.least, codes_.ranges.largest, codes_.ranges.has_more_than_two_values);
  if (const UniqueRows* unique_rows = unique_rows_.peek()) sum += bytes(unique_rows->first);
  for (const Once<OwnBestSets>* part : {&first_cases_, &all_sets_}) {
    if (const OwnBestSets* sets = part->peek()) sum += sets->bytes();
  }
  return sum;
}

std::vector<std::int64_t> Matrix::zeros() const {
  Watch watch;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(original_.cols));
  if (!codes_.bytes) {
    if (original_.cols > 0) isa().count_zeros(original_, nullptr, original_.rows, counts.data(), watch);
    return counts;
  }
  std::vector<std::int32_t> coded = numbers(unique_rows());
  std::vector<std::int32_t> others;
  for (std::size_t r = 0; r < coded.size(); ++r) {
    if (coded[r] >= codes_.coded) others.push_back(static_cast<std::int32_t>(r));
  }
  std::erase_if(coded, [&](std::int32_t unique) { return unique >= codes_.coded; });
  isa().count_zeros(values_, coded.data(), static_cast<std::int64_t>(coded.size()), counts.data(), watch);
  isa().count_zeros(original_, others.data(), static_cast<std::int64_t>(others.size()), counts.data(), watch);
  return counts;
}

const Matrix::UniqueRows& Matrix::grouped() const {
  return unique_rows_.get([&] { return group_rows(); });
}

Matrix::UniqueRows Matrix::group_rows() const {
  const auto rows = static_cast<std::size_t>(values_.rows);
  Watch watch;
  std::vector<std::uint64_t> hashes(rows);
  isa().row_hashes(values_, hash_keys(values_.cols).data(), hashes.data(), watch);
  RowGroups groups(rows);
  UniqueRows unique_rows;
  unique_rows.first.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto is_like = [&](std::int32_t unique) {
      watch.spend(values_.cols);
      return same_rows(values_, groups.first()[static_cast<std::size_t>(unique)], static_cast<std::int64_t>(r));
    };
    const std::int32_t unique = groups.add(static_cast<std::int32_t>(r), hashes[r], is_like).first;
    unique_rows.first[r] = groups.first()[static_cast<std::size_t>(unique)];
  }
  unique_rows.count = static_cast<std::int64_t>(groups.first().size());
  return unique_rows;
}

// Every row is a unique row.
void Matrix::list_every_row(OwnBestSets& out) const {
  out.view.individuals = out.view.unique_rows = original_.rows;
  out.member_start.resize(static_cast<std::size_t>(original_.rows) + 1);
  std::iota(out.member_start.begin(), out.member_start.end(), 0);
  out.view.members = out.view.member_start = out.member_start.data();
}

// Lists the individuals of each unique row.
void Matrix::list_members(const UniqueRows& unique_rows, OwnBestSets& out) const {
  if (unique_rows.count == original_.rows) return list_every_row(out);
  const auto rows = static_cast<std::size_t>(original_.rows);
  out.view.individuals = original_.rows;
  out.view.unique_rows = unique_rows.count;
  const std::vector<std::int32_t> number = numbers(unique_rows.first);
  out.member_start.assign(static_cast<std::size_t>(unique_rows.count) + 1, 0);
  for (const std::int32_t unique : number) ++out.member_start[static_cast<std::size_t>(unique) + 1];
  std::partial_sum(out.member_start.begin(), out.member_start.end(), out.member_start.begin());
  out.members.resize(rows);
  std::vector<std::int32_t> at = out.member_start;
  for (std::size_t r = 0; r < rows; ++r)
    out.members[static_cast<std::size_t>(at[static_cast<std::size_t>(number[r])]++)] = static_cast<std::int32_t>(r);
  out.view.member_start = out.member_start.data();
  out.view.members = out.members.data();
}

// Where the errors of each unique row are.
void Matrix::list_rows(OwnBestSets& out) const {
  BestSets& sets = out.view;
  sets.values = values_;
  if (sets.members == sets.member_start && !codes_.bytes) {
    sets.row_of = sets.members;
    return;
  }
  out.row_of.resize(static_cast<std::size_t>(sets.unique_rows));
  for (std::int64_t k = 0; k < sets.unique_rows; ++k) {
    const std::int32_t first = sets.members[sets.member_start[k]];
    const auto coded = static_cast<std::int32_t>(k < codes_.coded ? k : ~std::int64_t{first});
    out.row_of[static_cast<std::size_t>(k)] = codes_.bytes ? coded : first;
  }
  sets.row_of = out.row_of.data();
  if (codes_.bytes && codes_.coded < sets.unique_rows) sets.uncoded = original_;
}

// The sizes of the unique rows, digit by digit.
void Matrix::OwnBestSets::list_sizes() {
  const auto words = static_cast<std::size_t>(view.words);
  const auto size = [&](std::int64_t k) {
    return static_cast<std::uint32_t>(view.member_start[k + 1] - view.member_start[k]);
  };
  std::uint32_t largest = 1;
  for (std::int64_t k = 0; k < view.unique_rows; ++k) largest = std::max(largest, size(k));
  view.multiplicity_bits = std::bit_width(largest);
  multiplicity.assign(static_cast<std::size_t>(view.multiplicity_bits) * words, 0);
  for (std::int64_t k = 0; k < view.unique_rows; ++k) {
    for (std::uint32_t digits = size(k); digits != 0; digits &= digits - 1) {
      const auto b = static_cast<std::size_t>(std::countr_zero(digits));
      multiplicity[b * words + static_cast<std::size_t>(k / 64)] |= std::uint64_t{1} << (k % 64);
    }
  }
  view.multiplicity = multiplicity.data();
}

// A set of best is never empty: where the caller has changed the errors so that no row has the minimum any more,
// all unique rows are best.
void Matrix::build_sets(Watch& watch, OwnBestSets& out) const {
  const auto cols = static_cast<std::size_t>(values_.cols);
  BestSets& sets = out.view;
  out.best.resize(cols * static_cast<std::size_t>(sets.words));
  out.n_best.resize(cols);
  out.only_best.resize(cols);
  const void* minima = codes_.bytes ? static_cast<const void*>(codes_.ranges.least.data()) : minima_.data();
  isa().find_best(sets, minima, out.best.data(), watch);
  isa().set_sizes(out.best.data(), values_.cols, sets.words, out.n_best.data(), out.only_best.data(), watch);
  for (std::int64_t c = 0; c < values_.cols; ++c) {
    if (out.n_best[static_cast<std::size_t>(c)] != 0) continue;
    std::uint64_t* set = out.best.data() + c * sets.words;
    for (std::int64_t k = 0; k < sets.unique_rows; ++k) set[k / 64] |= std::uint64_t{1} << (k % 64);
    out.n_best[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(sets.unique_rows);
    out.only_best[static_cast<std::size_t>(c)] = sets.unique_rows == 1 ? 0 : -1;
  }
  sets.best = out.best.data();
  sets.n_best = out.n_best.data();
  sets.only_best = out.only_best.data();
}

// BestSets for events that all end after their first case.
Matrix::OwnBestSets Matrix::first_cases() const {
  OwnBestSets out;
  list_every_row(out);
  list_rows(out);
  out.view.only_best = only_best_.data();
  return out;
}

Matrix::OwnBestSets Matrix::all_sets() const {
  Watch watch;
  OwnBestSets out;
  list_members(grouped(), out);
  list_rows(out);
  out.view.words = (out.view.unique_rows + 511) / 512 * 8;
  out.list_sizes();
  build_sets(watch, out);
  if (values_.type == DType::u8 && values_.cols > 0) {
    if (!codes_.bytes) out.has_more_than_two_values = CodeRanges::of(values_, watch).has_more_than_two_values;
    out.view.has_more_than_two_values =
        codes_.bytes ? codes_.ranges.has_more_than_two_values.data() : out.has_more_than_two_values.data();
  }
  return out;
}

const BestSets& Matrix::best_sets(bool counts) const {
  if (!counts && first_case_decides_) return first_cases_.get([&] { return first_cases(); }).view;
  return all_sets_.get([&] { return all_sets(); }).view;
}

}  // namespace flexicase

// One-byte codes of the distinct rows of a matrix of discrete errors.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "flexicase/pages.hpp"
#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

// Numbers unique rows by first occurrence.
class RowGroups {
 public:
  // Bytes that it takes per row, at most, while rows are added.
  static constexpr std::size_t bytes_per_row = 4 + 4 + 10;

  explicit RowGroups(std::size_t rows) : slots_(std::bit_ceil(rows + rows / 4 + 1), -1) {
    first_.reserve(rows);
    tags_.reserve(rows);
  }

  // The number of the row's unique row, and whether it is new. Equal rows have equal hashes; same(unique) says
  // whether the row equals that unique row.
  template <class Same>
  std::pair<std::int32_t, bool> add(std::int32_t row, std::uint64_t hash, Same&& same) {
    const std::uint64_t mixed = mix64(hash);
    const auto tag = static_cast<std::uint32_t>(mixed >> 32);
    const std::size_t last = slots_.size() - 1;
    std::size_t slot = mixed & last;
    for (; slots_[slot] >= 0; slot = (slot + 1) & last) {
      const std::int32_t unique = slots_[slot];
      if (tags_[static_cast<std::size_t>(unique)] == tag && same(unique)) return {unique, false};
    }
    slots_[slot] = static_cast<std::int32_t>(first_.size());
    first_.push_back(row);
    tags_.push_back(tag);
    return {slots_[slot], true};
  }

  // (unique_rows,) its first occurrence.
  const std::vector<std::int32_t>& first() const { return first_; }

 private:
  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> first_;
  std::vector<std::uint32_t> tags_;
};

// What is known of the columns of codes: the smallest and the largest, and whether there are others.
struct CodeRanges {
  std::vector<std::uint8_t> least;                     // (cols,)
  std::vector<std::uint8_t> largest;                   // (cols,)
  std::vector<std::uint8_t> has_more_than_two_values;  // (cols,)

  // Ranges of a matrix of codes.
  static CodeRanges of(const MatrixView& codes, Watch& watch);
};

// Codes keep the order of every column. Everything derived from a matrix takes at most one byte per entry. If few
// rows are equal, only the first unique rows have their codes here; the others are encoded from the caller's matrix
// each time.
struct Codes {
  Memory<std::uint8_t> bytes;             // (coded, cols)
  std::int64_t coded = 0;                 // unique rows that have their codes here, the first ones
  std::vector<std::int32_t> first_equal;  // (rows,) the first row with the same entries
  std::int64_t unique_rows = 0;
  CodeRanges ranges;

  // Reads the matrix once. Nothing if its entries have no codes.
  static std::optional<Codes> of(const MatrixView& m, Watch& watch);

 private:
  void fit(const MatrixView& m);
};

// Whether two rows have the same entries.
bool same_rows(const MatrixView& m, std::int64_t a, std::int64_t b);

// Keys for Isa::row_hashes.
std::vector<std::uint64_t> hash_keys(std::int64_t cols);

}  // namespace flexicase

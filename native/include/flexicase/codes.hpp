// One-byte codes of the distinct rows of a matrix of discrete errors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flexicase/pages.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

// What is known of the columns of codes: the smallest and the largest, and whether there are others.
struct CodeRanges {
  std::vector<std::uint8_t> least;    // (cols,)
  std::vector<std::uint8_t> largest;  // (cols,)
  std::vector<std::uint8_t> several;  // (cols,)

  // Ranges of a matrix of codes.
  static CodeRanges of(const MatrixView& codes, Watch& watch);
};

// Codes keep the order of every column. All that is derived from a matrix shall take no more than a byte per
// entry, so where few rows are alike only the first kinds have their codes here; those of the others
// are made from the caller's matrix each time.
struct Codes {
  Memory<std::uint8_t> bytes;      // (coded, cols)
  std::int64_t coded = 0;          // kinds that have their codes here, the first ones
  std::vector<std::int32_t> kind;  // (rows,) the first row with the same entries
  std::int64_t kinds = 0;
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

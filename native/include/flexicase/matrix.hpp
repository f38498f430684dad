// An error matrix and what selection derives from it. Each part is built when first needed and never changed
// afterwards, so threads may share a matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "flexicase/codes.hpp"
#include "flexicase/parallel.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

class Matrix {
 public:
  // The view must stay valid. Reads every entry once.
  explicit Matrix(const MatrixView& view);
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  // Whether there is no NaN.
  bool usable() const { return usable_; }

  // Row and column of the first entry that is NaN, by rows.
  std::optional<std::pair<std::int64_t, std::int64_t>> bad_entry() const;

  // Row and column of the first entry that is not exactly a double, by rows.
  std::optional<std::pair<std::int64_t, std::int64_t>> inexact_entry() const;

  const MatrixView& original() const { return original_; }

  // Bytes held beyond the caller's matrix.
  std::size_t memory() const;

  // Exact zeros per column.
  std::vector<std::int64_t> zeros() const;

  // For every individual, the first one with the same errors.
  const std::vector<std::int32_t>& unique_rows() const { return grouped().first; }
  std::int64_t n_unique_rows() const { return grouped().count; }

  // Sets of best for the exact filter. Without counts, individuals with equal errors may be left
  // apart if no event could look at them.
  const BestSets& best_sets(bool counts) const;

 private:
  struct UniqueRows {
    std::vector<std::int32_t> first;  // (rows,)
    std::int64_t count = 0;
  };
  // BestSets and the memory behind them.
  struct OwnBestSets {
    std::vector<std::int32_t> row_of;
    std::vector<std::int32_t> members;
    std::vector<std::int32_t> member_start;
    std::vector<std::uint64_t> multiplicity;
    std::vector<std::uint64_t> best;
    std::vector<std::int32_t> n_best;
    std::vector<std::int32_t> only_best;
    std::vector<std::uint8_t> has_more_than_two_values;
    BestSets view;

    void list_sizes();
    std::size_t bytes() const;
  };

  template <class T, class Test>
  std::optional<std::pair<std::int64_t, std::int64_t>> first_entry(Test&& test) const;
  bool find_codes(Watch& watch);
  const UniqueRows& grouped() const;
  UniqueRows group_rows() const;
  OwnBestSets first_cases() const;
  OwnBestSets all_sets() const;
  void list_every_row(OwnBestSets& out) const;
  void list_members(const UniqueRows& unique_rows, OwnBestSets& out) const;
  void list_rows(OwnBestSets& out) const;
  void build_sets(Watch& watch, OwnBestSets& out) const;

  MatrixView original_;
  MatrixView values_;  // the original, or codes
  bool usable_ = true;
  bool first_case_decides_ = false;  // on every case just one individual is best
  Codes codes_;
  std::vector<std::uint64_t> minima_;    // bytes in the type of the original, if there are no codes
  std::vector<std::int32_t> only_best_;  // (cols,) the row that alone has the minimum, if there are no codes
  mutable Once<UniqueRows> unique_rows_;
  mutable Once<OwnBestSets> first_cases_;
  mutable Once<OwnBestSets> all_sets_;
};

}  // namespace flexicase

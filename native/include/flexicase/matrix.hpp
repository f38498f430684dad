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

  // Whether there is no NaN and no -inf.
  bool usable() const { return usable_; }

  // Row and column of the first entry that is NaN or -inf, by rows.
  std::optional<std::pair<std::int64_t, std::int64_t>> bad_entry() const;

  // Row and column of the first entry that is not exactly a double, by rows.
  std::optional<std::pair<std::int64_t, std::int64_t>> inexact_entry() const;

  const MatrixView& original() const { return original_; }

  // Bytes held beyond the caller's matrix.
  std::size_t memory() const;

  // Exact zeros per column.
  std::vector<std::int64_t> zeros() const;

  // For every individual, the first one with the same errors.
  const std::vector<std::int32_t>& kinds() const { return grouped().first; }
  std::int64_t kind_count() const { return grouped().count; }

  // Sets of best for the exact filter. Without counts, individuals with equal errors may be left
  // apart if no event could look at them.
  const Planes& planes(bool counts) const;

 private:
  struct Kinds {
    std::vector<std::int32_t> first;  // (rows,)
    std::int64_t count = 0;
  };
  // Planes and the memory behind them.
  struct OwnPlanes {
    std::vector<std::int32_t> row_of_kind;
    std::vector<std::int32_t> members;
    std::vector<std::int32_t> member_start;
    std::vector<std::uint64_t> multiplicity;
    std::vector<std::uint64_t> best;
    std::vector<std::int32_t> best_kinds;
    std::vector<std::int32_t> only_best;
    std::vector<std::uint8_t> several;
    Planes view;

    void list_sizes();
    std::size_t bytes() const;
  };

  template <class T, class Test>
  std::optional<std::pair<std::int64_t, std::int64_t>> first_entry(Test&& test) const;
  bool find_codes(Watch& watch);
  const Kinds& grouped() const;
  Kinds group_rows() const;
  OwnPlanes first_cases() const;
  OwnPlanes all_sets() const;
  void list_everyone(OwnPlanes& out) const;
  void list_members(const Kinds& kinds, OwnPlanes& out) const;
  void list_rows(OwnPlanes& out) const;
  void build_sets(Watch& watch, OwnPlanes& out) const;

  MatrixView original_;
  MatrixView values_;  // the original, or codes
  bool usable_ = true;
  bool first_case_decides_ = false;  // on every case just one individual is best
  Codes codes_;
  std::vector<std::uint64_t> minima_;    // bytes in the type of the original, if there are no codes
  std::vector<std::int32_t> only_best_;  // (cols,) the row that alone has the minimum, if there are no codes
  mutable Once<Kinds> kinds_;
  mutable Once<OwnPlanes> first_cases_;
  mutable Once<OwnPlanes> all_sets_;
};

}  // namespace flexicase

// An error matrix and what selection derives from it, each part computed when first needed.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "flexicase/codes.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

class Matrix {
 public:
  // The view must stay valid. Reads every entry once.
  explicit Matrix(const MatrixView& view);

  // Whether there is no NaN and no -inf.
  bool usable() const { return usable_; }

  // Row and column of the first entry that is NaN or -inf, by rows.
  std::optional<std::pair<std::int64_t, std::int64_t>> bad_entry() const;

  const MatrixView& original() const { return original_; }

  // Bytes held beyond the caller's matrix.
  std::size_t memory() const;

  // Exact zeros per column.
  std::vector<std::int64_t> zeros() const;

  // For every individual, the first one with the same errors.
  const std::vector<std::int32_t>& kinds();
  std::int64_t kind_count();

  // Sets of best for the exact filter. Without counts, individuals with equal errors may be left
  // apart if no event could look at them.
  const Planes& planes(bool counts);

 private:
  bool find_codes();
  void group_rows();
  std::vector<std::int32_t> numbers() const;
  void list_members();
  void list_rows();
  void list_sizes();
  void build_sets();

  MatrixView original_;
  MatrixView values_;  // the original, or codes
  bool usable_ = true;
  Codes codes_;
  std::vector<std::uint64_t> minima_;  // bytes in the type of the original, if there are no codes
  std::vector<std::int32_t> kind_;     // (rows,)
  std::int64_t kind_count_ = 0;
  std::vector<std::int32_t> row_of_kind_;
  std::vector<std::int32_t> members_;
  std::vector<std::int32_t> member_start_;
  std::vector<std::uint64_t> multiplicity_;
  std::vector<std::uint64_t> best_;
  std::vector<std::int32_t> best_kinds_;
  std::vector<std::int32_t> only_best_;
  bool ready_ = false;    // planes can be drawn from
  bool counted_ = false;  // and their kinds are known
  Planes planes_;
};

}  // namespace flexicase

// Algorithm 1 replayed over a block of errors that were computed together. The readable twin is
// flexicase/selection/_fast_events.py.
#pragma once

#include <cstdint>
#include <vector>

namespace flexicase {

enum class PoolBias : int { num_nonzeros = 0, num_zeros = 1, split = 2 };

struct PoolRule {
  PoolBias bias = PoolBias::num_nonzeros;
  double w_min = 1.0;
  double w_max = 1.0;
  const double* epsilon = nullptr;  // (cases,) or none
  bool mad = false;                 // the pool's median absolute deviation instead
  const double* solved = nullptr;   // (cases,) errors up to these are; none: those that are 0
  bool maximize = false;            // the evaluator gives scores, which are errors once negated
};

struct Block {
  std::int64_t rows = 0;
  std::vector<std::int64_t> cases;
  std::vector<double> errors;       // (cases, rows)
  std::vector<std::uint8_t> fresh;  // (cases, rows) computed for this block; empty if none or all were
  bool all_fresh = false;
};

struct Replayed {
  std::int64_t visited = 0;
  std::int64_t evaluations = 0;
  std::int64_t fresh_used = 0;
  std::int64_t last_filter = -1;  // position of the last case that removed a candidate
};

// Looks at the cases one after another until one candidate is left, and gives them new weights.
// survivors: rows of the block, all of them at first.
class Replay {
 public:
  explicit Replay(const PoolRule& rule) : rule_(rule) {}
  void set_largest(double w_max) { rule_.w_max = w_max; }
  // Turns scores of the block into errors.
  Replayed run(Block& block, double* weights, std::vector<std::int64_t>& survivors);

 private:
  double limit(const double* errors, double best, std::int64_t at_case, const std::vector<std::int64_t>& pool);
  double metric(std::int64_t zeros, std::int64_t size) const;  // of a pool of which this many solve the case

  PoolRule rule_;
  std::vector<double> pool_errors_;
  std::vector<double> work_;
};

}  // namespace flexicase

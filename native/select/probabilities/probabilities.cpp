#include "flexicase/probabilities.hpp"

#include <algorithm>

#include "select/probabilities/pool.hpp"

namespace flexicase {

ExactOutcome exact_probabilities(const Matrix& matrix, const KernelOptions& asked, std::uint64_t max_states) {
  KernelOptions options = asked;
  const std::int64_t cases = matrix.original().cols;
  if (options.ranked &&
      std::equal(options.weights.begin() + (cases > 0), options.weights.end(), options.weights.begin())) {
    options.ranked = false;  // all cases share a rank: the order is uniform
    options.weights.clear();
  }
  options.random_depth = options.random_depth && cases > 0;
  const bool uncut = options.depth >= cases && !options.random_depth && options.slippage == 0.0;
  const bool one_by_one = options.batch == 1 && options.tolerance != Tolerance::dynamic_mad;
  const bool uncut_exact = uncut && options.batch == 1 && options.tolerance == Tolerance::none;

  Watch watch;
  Pool pool = make_pool(matrix, uncut_exact, watch);
  std::vector<Column> columns;
  if (one_by_one) columns = make_columns(matrix, pool, options, watch);
  if (uncut_exact) drop_dominated(pool, columns, watch);
  ExactOutcome outcome = uncut && one_by_one && !options.ranked
                             ? solve_by_survivors(pool, std::move(columns), max_states, watch)
                             : solve_by_used_cases(matrix, pool, std::move(columns), options, max_states, watch);
  if (!outcome.probabilities.empty()) outcome.probabilities = pool.share(outcome.probabilities);
  return outcome;
}

}  // namespace flexicase

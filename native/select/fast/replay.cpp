#include "flexicase/replay.hpp"

#include <algorithm>
#include <limits>

#include "flexicase/select.hpp"

namespace flexicase {

double Replay::limit(const double* errors, double best, std::int64_t at_case, const std::vector<std::int64_t>& pool) {
  if (!rule_.mad) return rule_.epsilon == nullptr ? best : best + rule_.epsilon[at_case];
  pool_errors_.clear();
  for (const std::int64_t row : pool) {
    const bool is_number = errors[row] == errors[row];  // unless an evaluator has changed its answer meanwhile
    pool_errors_.push_back(is_number ? errors[row] : std::numeric_limits<double>::infinity());
  }
  return best + median_absolute_deviation(pool_errors_, work_);  // NaN keeps all
}

double Replay::metric(std::int64_t zeros, std::int64_t size) const {
  switch (rule_.bias) {
    case PoolBias::num_zeros: return static_cast<double>(zeros);
    case PoolBias::split: return 4.0 * static_cast<double>(zeros * (size - zeros)) / static_cast<double>(size);
    default: return static_cast<double>(size - zeros);
  }
}

Replayed Replay::run(Block& block, double* weights, std::vector<std::int64_t>& survivors) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Replayed out;
  if (rule_.maximize) {
    for (double& error : block.errors) error = 0.0 - error;
  }
  for (std::size_t j = 0; j < block.cases.size() && survivors.size() > 1; ++j) {
    const std::int64_t c = block.cases[j];
    const double* errors = block.errors.data() + static_cast<std::int64_t>(j) * block.rows;
    const double least = rule_.solved == nullptr ? 0.0 : -infinity;
    const double most_solved = rule_.solved == nullptr ? 0.0 : rule_.solved[c];
    double best = infinity;
    std::int64_t zeros = 0;
    for (const std::int64_t row : survivors) {
      best = errors[row] < best ? errors[row] : best;
      zeros += errors[row] >= least && errors[row] <= most_solved;
    }
    const auto size = static_cast<std::int64_t>(survivors.size());
    weights[c] = std::min(std::max(metric(zeros, size) + 1.0, rule_.w_min), rule_.w_max);
    ++out.visited;
    out.evaluations += size;
    if (block.all_fresh) {
      out.fresh_used += size;
    } else if (!block.fresh.empty()) {
      const std::uint8_t* fresh = block.fresh.data() + static_cast<std::int64_t>(j) * block.rows;
      for (const std::int64_t row : survivors) out.fresh_used += fresh[row];
    }
    const double most = limit(errors, best, c, survivors);
    std::size_t kept = 0;
    for (const std::int64_t row : survivors) {
      survivors[kept] = row;
      kept += !(errors[row] > most);
    }
    if (kept == survivors.size()) continue;
    survivors.resize(kept);
    out.last_filter = static_cast<std::int64_t>(j);
  }
  return out;
}

}  // namespace flexicase

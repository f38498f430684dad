#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "flexicase/baselines.hpp"
#include "flexicase/normals.hpp"
#include "flexicase/parallel.hpp"

namespace flexicase {

namespace {

constexpr std::int64_t worth_a_thread = 8;
constexpr std::int64_t first_cases = 16;
constexpr double steep = 0.01;

// The cases of one event, heaviest first, put in order only as far as they are asked for.
class Importances {
 public:
  Importances(std::int64_t cases, double std)
      : std_(std), drawn_(static_cast<std::size_t>(cases)), order_(drawn_.size()), weights_(drawn_.size()) {}

  void draw(std::uint64_t lane) {
    draw_normals(lane, size(), drawn_.data());
    std::iota(order_.begin(), order_.end(), 0);
    ready_ = 0;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(drawn_.size()); }

  std::int64_t case_at(std::int64_t k) {
    if (k >= ready_) order_more();
    return order_[static_cast<std::size_t>(k)];
  }

  // The heaviest has weight 1.
  double weight_at(std::int64_t k) {
    if (k >= ready_) order_more();
    return weights_[static_cast<std::size_t>(k)];
  }

  // Calls visit(case, weight) for number k and all after it, in any order.
  template <class F>
  void for_rest(std::int64_t k, const F& visit) {
    for (; k < size(); ++k) {
      const std::int32_t c = order_[static_cast<std::size_t>(k)];
      visit(c, k < ready_ ? weights_[static_cast<std::size_t>(k)] : weight_of(c));
    }
  }

 private:
  double weight_of(std::int32_t c) const {
    const double heaviest = drawn_[static_cast<std::size_t>(order_[0])];
    return decay((drawn_[static_cast<std::size_t>(c)] - heaviest) * std_);
  }

  void order_more() {
    const std::int64_t until = std::min(size(), std::max(first_cases, 4 * ready_));
    const auto heavier = [&](std::int32_t a, std::int32_t b) {
      const double x = drawn_[static_cast<std::size_t>(a)];
      const double y = drawn_[static_cast<std::size_t>(b)];
      return x > y || (x == y && a < b);
    };
    const auto begin = order_.begin() + ready_;
    const auto end = order_.begin() + until;
    if (until < size()) std::nth_element(begin, end, order_.end(), heavier);
    std::sort(begin, end, heavier);
    for (; ready_ < until; ++ready_) {
      weights_[static_cast<std::size_t>(ready_)] = weight_of(order_[static_cast<std::size_t>(ready_)]);
    }
  }

  double std_;
  std::vector<double> drawn_;
  std::vector<std::int32_t> order_;
  std::vector<double> weights_;
  std::int64_t ready_ = 0;
};

// Finds the lowest weighted sum. Sums of non-negative terms only grow, so an individual whose sum
// so far is above what the whole sum of another can be is out.
class Aggregation {
 public:
  Aggregation(const AggregatePlan& plan, double worst)
      : plan_(plan),
        worst_(worst),
        importances_(plan.cases, plan.std),
        pool_(static_cast<std::size_t>(plan.individuals)),
        sums_(pool_.size()) {}

  // The individuals with the lowest sum, in ascending order.
  const std::vector<std::int32_t>& lowest(std::uint64_t lane) {
    importances_.draw(lane);
    pool_.resize(sums_.size());
    std::iota(pool_.begin(), pool_.end(), 0);
    std::fill(sums_.begin(), sums_.end(), 0.0);
    double bound = std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < plan_.cases && pool_.size() > 1 && importances_.weight_at(k) > 0; ++k) {
      const std::int32_t leader = add_case(importances_.case_at(k), importances_.weight_at(k));
      bound = std::min(bound, most(leader, k + 1));
      keep_up_to(bound);
    }
    double least = sums_[0];
    for (std::size_t p = 0; p < pool_.size(); ++p) least = std::min(least, sums_[p]);
    keep_up_to(least);
    sums_.resize(static_cast<std::size_t>(plan_.individuals));
    return pool_;
  }

 private:
  // Adds one case to the sums of the pool; the position of the lowest.
  std::int32_t add_case(std::int64_t c, double weight) {
    const double* column = plan_.columns + c * plan_.individuals;
    const std::size_t n = pool_.size();
    if (static_cast<std::int64_t>(n) == plan_.individuals) {
      for (std::size_t p = 0; p < n; ++p) sums_[p] += weight * column[p];
    } else {
      for (std::size_t p = 0; p < n; ++p) sums_[p] += weight * column[pool_[p]];
    }
    double least = sums_[0];
    for (std::size_t p = 1; p < n; ++p) least = sums_[p] < least ? sums_[p] : least;
    return static_cast<std::int32_t>(std::find(sums_.begin(), sums_.end(), least) - sums_.begin());
  }

  // At least what the sum at position p will be when the cases from number k on are added; rounding included.
  double most(std::int32_t p, std::int64_t k) {
    if (k == plan_.cases) return sums_[static_cast<std::size_t>(p)];
    const auto left = static_cast<double>(plan_.cases - k);
    double rest = left * importances_.weight_at(k) * worst_;
    const bool is_power_of_two = (k & (k - 1)) == 0;
    if (!(rest <= steep * worst_) || std::isinf(worst_)) {
      if (!is_power_of_two) return std::numeric_limits<double>::infinity();
      rest = 0.0;
      const std::int64_t individual = pool_[static_cast<std::size_t>(p)];
      importances_.for_rest(k, [&](std::int64_t c, double weight) {
        if (weight > 0) rest += weight * plan_.columns[c * plan_.individuals + individual];
      });
    }
    const double slack = std::max(1e-9, 1e-15 * static_cast<double>(plan_.cases));
    return (sums_[static_cast<std::size_t>(p)] + rest) * (1.0 + slack) + 1e-290;
  }

  void keep_up_to(double bound) {
    std::size_t kept = 0;
    for (std::size_t p = 0; p < pool_.size(); ++p) {
      pool_[kept] = pool_[p];
      sums_[kept] = sums_[p];
      kept += sums_[p] <= bound;
    }
    pool_.resize(kept);
    sums_.resize(kept);
  }

  const AggregatePlan& plan_;
  double worst_;
  Importances importances_;
  std::vector<std::int32_t> pool_;  // individuals still in
  std::vector<double> sums_;        // their sums so far
};

}  // namespace

void draw_aggregates(const AggregatePlan& plan, const Request& request, std::int64_t n, int threads) {
  const std::int64_t entries = plan.cases * plan.individuals;
  const double worst = entries > 0 ? *std::max_element(plan.columns, plan.columns + entries) : 0.0;
  in_parallel(n, worth_a_thread, threads, [&](std::int64_t begin, std::int64_t end) {
    Aggregation aggregation(plan, worst);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t event = request.first_event + static_cast<std::uint64_t>(i) * request.event_step;
      const std::uint64_t state = event_state(request.key, event);
      const auto& tied = aggregation.lowest(lane_state(state, Lane::baseline));
      request.indices[i] = tied[Stream{lane_state(state, Lane::pick)}.bounded(tied.size())];
    }
  });
}

}  // namespace flexicase

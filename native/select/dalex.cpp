#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "flexicase/baselines.hpp"
#include "flexicase/parallel.hpp"

namespace flexicase {

namespace {

constexpr std::int64_t worth_a_thread = 8;
constexpr std::size_t few = 4;           // candidates that are not worth sifting any more
constexpr double heavy_part = 1.0 / 64;  // of the weight that is left
constexpr std::size_t most_in_pool = 8;  // a pool of more than this part of all is better added up whole
constexpr std::int64_t events_at_once = 32;
constexpr std::int64_t tile = 512;  // individuals whose sums stay in the nearest cache

// Finds the lowest weighted sum of one event: start, add up if that is left to do, finish.
class Aggregation {
 public:
  Aggregation(const AggregatePlan& plan, double worst, Watch& watch)
      : plan_(plan),
        watch_(&watch),
        worst_(worst),
        drawn_(static_cast<std::size_t>((plan.cases + 1) / 2 * 2)),
        weights_(static_cast<std::size_t>(plan.cases)),
        pool_(static_cast<std::size_t>(plan.individuals)),
        sums_(pool_.size()) {}

  // Draws the weights and adds up the sums, unless too many individuals are left for doing it alone.
  void start(std::uint64_t lane) {
    draw_weights(lane);
    sift();
    if (crowded()) {
      start_with_everyone();
    } else {
      add_up();
    }
  }

  bool crowded() const { return most_in_pool * pool_.size() > everyone(); }

  // Adds one case to the sums of the individuals from begin to end, all of whom are in the pool.
  void add_to_tile(std::int64_t c, std::int64_t begin, std::int64_t end) {
    const double weight = weights_[static_cast<std::size_t>(c)];
    if (weight == 0) return;
    const double* column = plan_.columns + c * plan_.individuals;
    isa().add_scaled(weight, column + begin, end - begin, sums_.data() + begin);
  }

  // The individuals with the lowest sum, in ascending order.
  const std::vector<std::int32_t>& finish() {
    keep_up_to(least());
    return pool_;
  }

 private:
  void draw_weights(std::uint64_t lane) {
    if (weights_.empty()) return;
    watch_->spend(20 * plan_.cases);
    isa().draw_normals(lane, static_cast<std::int64_t>(drawn_.size() / 2), drawn_.data());
    const double heaviest = *std::max_element(drawn_.begin(), drawn_.begin() + plan_.cases);
    isa().exponentials(drawn_.data(), plan_.cases, heaviest, plan_.std, weights_.data());
  }

  // Drops individuals that cannot have the lowest sum: with the heaviest cases added they are
  // already above all that some other individual can come to. Rounding is allowed for.
  void sift() {
    start_with_everyone();
    unused_ = weights_;
    std::size_t used = 0;
    while (pool_.size() > few && !(crowded() && used > unused_.size() / 16)) {
      watch_->spend(2 * plan_.cases);
      const double left = std::accumulate(unused_.begin(), unused_.end(), 0.0);
      heavy_.clear();
      for (std::size_t c = 0; c < unused_.size(); ++c) {
        if (unused_[c] > left * heavy_part) heavy_.push_back(static_cast<std::int32_t>(c));
      }
      if (heavy_.empty()) return;
      used += heavy_.size();
      for (const std::int32_t c : heavy_) {
        add_case(c);
        unused_[static_cast<std::size_t>(c)] = 0.0;
      }
      const double slack = std::max(1e-9, 1e-14 * static_cast<double>(plan_.cases));
      keep_up_to(most() * (1.0 + slack) + 1e-290);
    }
  }

  // The sums proper, case after case.
  void add_up() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    if (pool_.size() == 1) return;
    for (std::int64_t c = 0; c < plan_.cases; ++c) {
      if (weights_[static_cast<std::size_t>(c)] > 0) add_case(c);
    }
  }

  std::size_t everyone() const { return static_cast<std::size_t>(plan_.individuals); }

  void start_with_everyone() {
    pool_.resize(everyone());
    std::iota(pool_.begin(), pool_.end(), 0);
    sums_.assign(everyone(), 0.0);
  }

  void add_case(std::int64_t c) {
    const double weight = weights_[static_cast<std::size_t>(c)];
    const double* column = plan_.columns + c * plan_.individuals;
    watch_->spend(static_cast<std::int64_t>(pool_.size()));
    if (pool_.size() == everyone()) {
      isa().add_scaled(weight, column, plan_.individuals, sums_.data());
    } else {
      for (std::size_t p = 0; p < pool_.size(); ++p) sums_[p] += weight * column[pool_[p]];
    }
  }

  double least() const { return *std::min_element(sums_.begin(), sums_.end()); }

  // What the individual that leads so far can come to with the unused cases.
  double most() const {
    const auto leader = std::min_element(sums_.begin(), sums_.end());
    const double* row = plan_.columns + pool_[static_cast<std::size_t>(leader - sums_.begin())];
    double sum = *leader;
    if (std::isfinite(worst_)) return sum + std::accumulate(unused_.begin(), unused_.end(), 0.0) * worst_;
    for (std::size_t c = 0; c < unused_.size(); ++c) {
      if (unused_[c] > 0) sum += unused_[c] * row[static_cast<std::int64_t>(c) * plan_.individuals];
    }
    return sum;
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
  Watch* watch_;
  double worst_;
  std::vector<double> drawn_;
  std::vector<double> weights_;  // (cases,) the heaviest has 1
  std::vector<double> unused_;   // (cases,) the same, 0 once used to sift
  std::vector<std::int32_t> heavy_;
  std::vector<std::int32_t> pool_;  // individuals still in
  std::vector<double> sums_;        // their sums so far
};

// The largest of some numbers that are not negative; 0 if there are none.
double largest(const double* x, std::int64_t n) {
  constexpr std::int64_t stretch = 4096;
  Watch watch;
  double most = 0.0;
  for (std::int64_t begin = 0; begin < n; begin += stretch) {
    const std::int64_t count = std::min(stretch, n - begin);
    watch.spend(count);
    most = std::max(most, *std::max_element(x + begin, x + begin + count));
  }
  return most;
}

// Adds up the crowded events together, so that every error is fetched once for all of them.
void add_up_together(const AggregatePlan& plan, std::vector<Aggregation>& events, std::int64_t n, Watch& watch) {
  if (std::none_of(events.begin(), events.begin() + n, [](const Aggregation& a) { return a.crowded(); })) return;
  for (std::int64_t begin = 0; begin < plan.individuals; begin += tile) {
    const std::int64_t end = std::min(begin + tile, plan.individuals);
    for (std::int64_t c = 0; c < plan.cases; ++c) {
      watch.spend(n * (end - begin) / 4);
      for (std::int64_t e = 0; e < n; ++e) {
        if (events[static_cast<std::size_t>(e)].crowded())
          events[static_cast<std::size_t>(e)].add_to_tile(c, begin, end);
      }
    }
  }
}

}  // namespace

void draw_aggregates(const AggregatePlan& plan, const Request& request, std::int64_t n, int threads) {
  const std::int64_t entries = plan.cases * plan.individuals;
  const double worst = largest(plan.columns, entries);
  in_parallel(n, worth_a_thread, threads, [&](std::int64_t begin, std::int64_t end, Watch& watch) {
    std::vector<Aggregation> events(static_cast<std::size_t>(std::min(events_at_once, end - begin)),
                                    {plan, worst, watch});
    const auto state_of = [&](std::int64_t i) {
      return event_state(request.key, request.first_event + static_cast<std::uint64_t>(i) * request.event_step);
    };
    for (std::int64_t i = begin; i < end; i += events_at_once) {
      const std::int64_t n_now = std::min(events_at_once, end - i);
      for (std::int64_t e = 0; e < n_now; ++e) {
        events[static_cast<std::size_t>(e)].start(lane_state(state_of(i + e), Lane::baseline));
      }
      add_up_together(plan, events, n_now, watch);
      for (std::int64_t e = 0; e < n_now; ++e) {
        const auto& tied = events[static_cast<std::size_t>(e)].finish();
        request.indices[i + e] = tied[Stream{lane_state(state_of(i + e), Lane::pick)}.bounded(tied.size())];
      }
    }
  });
}

}  // namespace flexicase

#include <algorithm>
#include <numeric>

#include "flexicase/case_order.hpp"

namespace flexicase {

namespace {

constexpr std::int64_t stretch_cases = 32;
constexpr std::int64_t region_stretches = 32;
constexpr double most_exact = 0x1p53;
constexpr double most_whole = 0x1p31 - 1.0;

struct Sum {
  double sum;
  bool is_whole;
};

// The sum of some weights, and whether all of them are whole numbers.
Sum summed(const double* weights, std::int64_t count) {
  constexpr std::int64_t lanes = 4;
  double sums[lanes] = {};
  double fractions[lanes] = {};
  const auto add = [&](std::int64_t c, std::int64_t lane) {
    sums[lane] += weights[c];
    fractions[lane] += weights[c] - static_cast<double>(static_cast<std::int32_t>(std::min(weights[c], most_whole)));
  };
  std::int64_t c = 0;
  for (; c + lanes <= count; c += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) add(c + lane, lane);
  }
  for (; c < count; ++c) add(c, 0);
  return {std::accumulate(sums, sums + lanes, 0.0), std::accumulate(fractions, fractions + lanes, 0.0) == 0.0};
}

}  // namespace

void CaseWheel::sum_stretch(std::int64_t stretch) {
  const std::int64_t start = stretch * stretch_cases;
  const auto [sum, is_whole] = summed(weights_ + start, std::min(stretch_cases, cases_ - start));
  sums_[static_cast<std::size_t>(stretch)] = sum;
  whole_ = whole_ && is_whole;
}

void CaseWheel::sum_region(std::size_t region) {
  const auto first = sums_.begin() + static_cast<std::ptrdiff_t>(region) * region_stretches;
  const auto last = sums_.end() - first < region_stretches ? sums_.end() : first + region_stretches;
  regions_[region] = std::accumulate(first, last, 0.0);
}

void CaseWheel::build(const double* weights, std::int64_t cases) {
  weights_ = weights;
  cases_ = cases;
  whole_ = true;
  const std::int64_t stretches = (cases + stretch_cases - 1) / stretch_cases;
  sums_.resize(static_cast<std::size_t>(stretches));
  regions_.resize(static_cast<std::size_t>((stretches + region_stretches - 1) / region_stretches));
  for (std::int64_t stretch = 0; stretch < stretches && whole_; ++stretch) sum_stretch(stretch);
  for (std::size_t region = 0; region < regions_.size() && whole_; ++region) sum_region(region);
}

void CaseWheel::reweigh(std::int64_t at_case) {
  if (!whole_) return;
  sum_stretch(at_case / stretch_cases);
  sum_region(static_cast<std::size_t>(at_case / (stretch_cases * region_stretches)));
}

// Whole numbers sum to the same bits in any sequence as long as no sum needs rounding, so that
// stretches and regions of them can be summed apart. Other weights are summed one after another.
void CaseWheel::lay_out() {
  if (whole_) {
    ends_.resize(regions_.size());
    std::partial_sum(regions_.begin(), regions_.end(), ends_.begin());
    whole_ = ends_.back() <= most_exact;
  }
  if (whole_) return;
  ends_.resize(static_cast<std::size_t>(cases_));
  std::partial_sum(weights_, weights_ + cases_, ends_.begin());
}

std::int64_t CaseWheel::at(double spin) const {
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), spin);
  if (!whole_) return found - ends_.begin();
  auto stretch = static_cast<std::size_t>((found - ends_.begin()) * region_stretches);
  double sum = found == ends_.begin() ? 0.0 : *(found - 1);
  while (sum + sums_[stretch] <= spin) sum += sums_[stretch++];
  std::int64_t c = static_cast<std::int64_t>(stretch) * stretch_cases;
  while ((sum += weights_[c]) <= spin) ++c;
  return c;
}

}  // namespace flexicase

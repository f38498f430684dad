// Median absolute deviation, outside of the inner loops. The rule for numbers that are not finite is in isa/median.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace flexicase {

// The median; the mean of the two middle numbers for an even count. Reorders x, which has no NaN.
inline double median(std::span<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  if (x.size() % 2 != 0) return *middle;
  const double mean = (*std::max_element(x.begin(), middle) + *middle) / 2.0;
  return std::isnan(mean) ? std::numeric_limits<double>::infinity() : mean;
}

// Overwrites x, which has no NaN.
inline double median_absolute_deviation(std::span<double> x) {
  const double middle = median(x);
  for (double& value : x) value = value == middle ? 0.0 : std::fabs(value - middle);
  return median(x);
}

}  // namespace flexicase

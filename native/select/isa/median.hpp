// Medians of small arrays, without branches that cannot be predicted.
//
// One rule for numbers that are not finite, here and in flexicase/selection/epsilon.py: what is given
// has no NaN (a sum that is one counts as +inf), a median between -inf and +inf is +inf, and a number
// deviates by 0 from a median that is equal to it, also if both are infinite.
#pragma once

#include "select/isa/simd.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

template <int room, class Get>
FX_INLINE void sort_small(int n, Get&& get, double* sorted) {
  sort_by_counting<room>(n, get, [&](int slot, int i) { sorted[slot] = get(i); });
}

inline double least_above(const double* x, i64 n, double v) {
  double least[16];
  for (double& l : least) l = infinity;
  i64 i = 0;
  for (; i + 16 <= n; i += 16) {
    for (int j = 0; j < 16; ++j) {
      const double candidate = x[i + j] > v ? x[i + j] : infinity;
      least[j] = candidate < least[j] ? candidate : least[j];
    }
  }
  for (; i < n; ++i) least[0] = x[i] > v && x[i] < least[0] ? x[i] : least[0];
  for (const double l : least) least[0] = l < least[0] ? l : least[0];
  return least[0];
}

struct Neighbours {
  double low;
  double high;
};

// The k-th smallest of n numbers (k from 0) and the next one (k + 1 < n). `work` has room for
// 2 (n + 8). Each round finds the two neighbours of a sorted sample between which the answer lies,
// and keeps what is there.
inline Neighbours kth_and_next(const double* all, i64 total, i64 k, double* work) {
  constexpr int sampled = 16;
  const double* x = all;
  i64 n = total;
  double* to = work;
  double* other = work + n + 8;
  while (n > 32) {
    double sample[sampled];
    sort_small<sampled>(sampled, [&](int i) { return x[n * (2 * i + 1) / (2 * sampled)]; }, sample);
    int low = -1;
    int high = sampled;
    i64 below_low = 0;
    i64 below_high = n;
    int probe = static_cast<int>(k * sampled / n);
    while (high - low > 1 && below_high - below_low > 32) {
      const i64 below = count_below(x, n, sample[probe]);
      const int step = 1 + static_cast<int>((below > k ? below - k : k - below) * sampled / n);
      if (below <= k) {
        low = probe;
        below_low = below;
        probe = low + step < high ? low + step : high - 1;
      } else {
        high = probe;
        below_high = below;
        probe = high - step > low ? high - step : low + 1;
      }
    }
    const double from = low < 0 ? -infinity : sample[low];
    const double upto = high == sampled ? not_a_number : sample[high];
    i64 kept = copy_between<false>(x, n, from, upto, to);
    k -= below_low;
    if (2 * kept > n) {  // perhaps because many numbers are equal
      i64 equal = 0;
      for (i64 i = 0; i < kept; ++i) equal += to[i] == from ? 1 : 0;
      if (k < equal) return {from, k + 1 < equal ? from : least_above(all, total, from)};
      k -= equal;
      kept = copy_between<true>(x, n, from, upto, to);
    }
    n = kept;
    x = to;
    double* const used = to;
    to = other;
    other = used;
  }
  double sorted[32];
  if (n <= 16) {
    sort_small<16>(static_cast<int>(n), [&](int i) { return x[i]; }, sorted);
  } else {
    sort_small<32>(static_cast<int>(n), [&](int i) { return x[i]; }, sorted);
  }
  return {sorted[k], k + 1 < n ? sorted[k + 1] : least_above(all, total, sorted[k])};
}

// The median; the mean of the two middle numbers for an even count.
inline double median(const double* x, i64 n, double* work) {
  if (n == 1) return x[0];
  const Neighbours middle = kth_and_next(x, n, (n - 1) / 2, work);
  if (n % 2 != 0) return middle.low;
  const double mean = (middle.low + middle.high) / 2.0;
  return mean == mean ? mean : infinity;
}

// Median absolute deviation. `work` has room for 3 (n + 8).
inline double median_absolute_deviation(const double* x, i64 n, double* work) {
  const double middle = median(x, n, work);
  double* deviation = work + 2 * (n + 8);
  for (i64 i = 0; i < n; ++i) {
    const double d = x[i] - middle;
    deviation[i] = x[i] == middle ? 0.0 : (d < 0 ? -d : d);
  }
  return median(deviation, n, work);
}

}  // namespace flexicase::FX_ISA

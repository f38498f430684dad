// Medians of small arrays, without branches that cannot be predicted.

// Sorts at most 32 numbers by counting how many are smaller.
FX_INLINE void sort_small(double* x, int n) {
  constexpr int most = 32;
  double padded_x[most];
  i32 rank[most] = {};
  for (int i = 0; i < most; ++i) padded_x[i] = i < n ? x[i] : std::numeric_limits<double>::infinity();
  const int upto = n <= 16 ? 16 : most;
  for (int j = 0; j < n; ++j) {
    const double v = padded_x[j];
    if (upto == 16) {
      for (int i = 0; i < 16; ++i) rank[i] += v < padded_x[i];
    } else {
      for (int i = 0; i < most; ++i) rank[i] += v < padded_x[i];
    }
  }
  u32 taken = 0;
  for (int i = 0; i < n; ++i) {
    int slot = rank[i];
    while ((taken >> slot & 1) != 0) ++slot;
    taken |= u32{1} << slot;
    x[slot] = padded_x[i];
  }
}

// Quickselect with three-way partition: x[k] is in place, nothing before it is larger.
static void select_by_partition(double* x, i64 n, i64 k) {
  i64 begin = 0;
  i64 end = n;
  while (end - begin > 1) {
    double three[3] = {x[begin], x[begin + (end - begin) / 2], x[end - 1]};
    sort_small(three, 3);
    const double pivot = three[1];
    i64 less = begin;
    i64 at = begin;
    i64 more = end;
    while (at < more) {
      const double v = x[at];
      if (v < pivot) {
        x[at++] = x[less];
        x[less++] = v;
      } else if (v > pivot) {
        x[at] = x[--more];
        x[more] = v;
      } else {
        ++at;
      }
    }
    if (k < less) {
      end = less;
    } else if (k >= more) {
      begin = more;
    } else {
      return;
    }
  }
}

// The k-th smallest number (k from 0) and the next one, if there is one. Overwrites x. Each round
// brackets the wanted ranks by two members of a sorted sample and keeps what lies between.
static void two_smallest(double* x, i64 n, i64 k, double* first, double* second) {
  constexpr int sampled = 31;
  constexpr int margin = 5;
  while (n > 32) {
    double sample[32];
    for (int i = 0; i < sampled; ++i) sample[i] = x[n * (2 * i + 1) / (2 * sampled)];
    sort_small(sample, sampled);
    const i64 centre = k * sampled / n;
    const double low = centre >= margin ? sample[centre - margin] : -std::numeric_limits<double>::infinity();
    const double high =
        centre + margin < sampled ? sample[centre + margin] : std::numeric_limits<double>::infinity();
    i64 below = 0;
    i64 at_most = 0;
    for (i64 i = 0; i < n; ++i) {
      below += x[i] < low;
      at_most += x[i] <= high;
    }
    if (k < below || k + 1 >= at_most || at_most - below == n) break;
    i64 inside = 0;
    for (i64 i = 0; i < n; ++i) {
      const double v = x[i];
      x[inside] = v;
      inside += (v >= low) & (v <= high);
    }
    k -= below;
    n = inside;
  }
  if (n <= 32) {
    sort_small(x, static_cast<int>(n));
    *first = x[k];
    *second = x[k + 1 < n ? k + 1 : k];
    return;
  }
  select_by_partition(x, n, k);
  *first = x[k];
  double least = k + 1 < n ? x[k + 1] : x[k];
  for (i64 i = k + 2; i < n; ++i) least = x[i] < least ? x[i] : least;
  *second = least;
}

// The median; the mean of the two middle numbers for an even count. Overwrites x.
static double median(double* x, i64 n) {
  double low;
  double high;
  two_smallest(x, n, (n - 1) / 2, &low, &high);
  return n % 2 != 0 ? low : (low + high) / 2.0;
}

// Median absolute deviation; an infinite number deviates by 0 from an infinite median.
static double median_absolute_deviation(const double* x, i64 n, double* work) {
  for (i64 i = 0; i < n; ++i) work[i] = x[i];
  const double middle = median(work, n);
  for (i64 i = 0; i < n; ++i) {
    const double d = x[i] - middle;
    work[i] = x[i] == middle ? 0.0 : (d < 0 ? -d : d);
  }
  return median(work, n);
}

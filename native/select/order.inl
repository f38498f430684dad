// Walkers: the cases of one event in order, drawn only as far as they are needed.
//
// Uniform and weighted orders sort the cases by a key per case. The walker looks at a window of
// the smallest keys first and at larger windows only if that one is used up.

// Hands out carved pieces of a scratch block, each aligned to a cache line.
struct Carver {
  std::byte* at;
  template <class T>
  T* take(i64 count) {
    T* piece = reinterpret_cast<T*>(at);
    at += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
};

FX_INLINE i64 padded(i64 n) { return (n + 31) / 32 * 32; }

// The cases of a window, sorted. Small windows are sorted by counting, large ones lazily by a heap.
template <class K>
struct Window {
  static constexpr int small = 32;
  static constexpr K last = std::numeric_limits<K>::max();
  K* keys;     // (padded(cases) + small,)
  i32* cases;  // (padded(cases) + small,)
  i64 size = 0;
  i64 at = 0;
  bool heaped = false;

  void carve(Carver& carver, i64 n) {
    keys = carver.take<K>(padded(n) + small);
    cases = carver.take<i32>(padded(n) + small);
  }

  [[gnu::always_inline]] void clear() { size = at = 0; }

  [[gnu::always_inline]] void add(K key, i32 c) {
    keys[size] = key;
    cases[size] = c;
    ++size;
  }

  [[gnu::always_inline]] bool empty() const { return heaped ? size == 0 : at == size; }

  [[gnu::always_inline]] void sort() {
    heaped = size > small;
    if (heaped) return make_heap();
    for (i64 i = size; i < small; ++i) keys[i] = last;
    const int upto = size <= 16 ? 16 : small;
    i32 rank[small] = {};
    K sorted[small];
    i32 order[small];
    if (upto == 16) {
      for (int j = 0; j < 16; ++j)
        for (int i = 0; i < 16; ++i) rank[i] += keys[j] < keys[i];
    } else {
      for (int j = 0; j < small; ++j)
        for (int i = 0; i < small; ++i) rank[i] += keys[j] < keys[i];
    }
    u32 taken = 0;
    for (i64 i = 0; i < size; ++i) {
      int slot = rank[i];
      while ((taken >> slot & 1) != 0) ++slot;  // equal clocks go by case number
      taken |= u32{1} << slot;
      sorted[slot] = keys[i];
      order[slot] = cases[i];
    }
    for (i64 i = 0; i < size; ++i) {
      keys[i] = sorted[i];
      cases[i] = order[i];
    }
  }

  [[gnu::always_inline]] i32 pop() {
    if (!heaped) return cases[at++];
    const i32 top = cases[0];
    --size;
    keys[0] = keys[size];
    cases[0] = cases[size];
    sift(0);
    return top;
  }

 private:
  bool before(i64 a, i64 b) const { return keys[a] < keys[b] || (keys[a] == keys[b] && cases[a] < cases[b]); }

  void make_heap() {
    for (i64 i = size / 2; i-- > 0;) sift(i);
  }

  void sift(i64 i) {
    for (;;) {
      i64 child = 2 * i + 1;
      if (child >= size) return;
      if (child + 1 < size && before(child + 1, child)) ++child;
      if (!before(child, i)) return;
      const K k = keys[i];
      keys[i] = keys[child];
      keys[child] = k;
      const i32 c = cases[i];
      cases[i] = cases[child];
      cases[child] = c;
      i = child;
    }
  }
};

FX_INLINE bool same8(const void* a, const void* b) {
  u64 x;
  u64 y;
  __builtin_memcpy(&x, a, 8);
  __builtin_memcpy(&y, b, 8);
  return x == y;
}

// Keys of all cases of an event, in whole vectors; those past the end are the largest.
FX_INLINE void fill_keys(u64 lane, i64 cases, u32* keys) {
  const i64 whole = (cases + 15) / 16 * 16;
  for (i64 c = 0; c < whole; ++c) keys[c] = case_key(lane, static_cast<u32>(c));
  for (i64 c = cases; c < whole; ++c) keys[c] = 0xFFFFFFFFu;
}

struct UniformWalker {
  static constexpr bool keyed = true;
  const OrderPlan* plan;
  u32* keys;
  Window<u32> window;
  u64 state = 0;
  i32 first_case = 0;
  bool filled = false;
  u32 low = 0;
  u32 width = 0;
  bool last_window = false;

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 64) * 4 + static_cast<std::size_t>(padded(p.cases) + 64) * 8 + 512;
  }

  UniformWalker(const OrderPlan& p, Carver& carver) : plan(&p) {
    keys = carver.take<u32>(padded(p.cases) + 16);
    window.carve(carver, p.cases);
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    state = event;
    filled = false;
    first_case = static_cast<i32>(Stream{lane_state(state, Lane::first)}.bounded(static_cast<u64>(plan->cases)));
    return first_case;
  }

  [[gnu::always_inline]] void fill() {
    fill_keys(lane_state(state, Lane::keys), plan->cases, keys);
    keys[first_case] = 0xFFFFFFFFu;
    filled = true;
    low = 0;
    window.clear();
    window.heaped = false;
    const u64 wanted = (u64{12} << 32) / static_cast<u64>(plan->cases);
    last_window = wanted >= 0xFFFFFFFFu;
    width = last_window ? 0xFFFFFFFFu : static_cast<u32>(wanted);
    refill();
  }

  void refill() {
    window.clear();
    const i64 n = plan->cases;
    for (i64 c = 0; c < n; c += 16) {
      u32 mask = keys_within16(keys + c, low, width);
      while (mask != 0) {
        const i64 at = c + std::countr_zero(mask);
        window.add(keys[at], static_cast<i32>(at));
        mask &= mask - 1;
      }
    }
    if (last_window) {  // the largest key of all stands for "not in the race", but may be a real one
      for (i64 c = 0; c < n; ++c) {
        if (keys[c] == 0xFFFFFFFFu && c != first_case) window.add(keys[c], static_cast<i32>(c));
      }
    }
    window.sort();
  }

  // The next case after the first; -1 when there are none.
  [[gnu::always_inline]] i32 next() {
    if (!filled) fill();
    while (window.empty()) {
      if (last_window) return -1;
      low += width;
      const u64 wider = u64{width} * 4;
      last_window = low + wider >= 0xFFFFFFFFu;
      width = last_window ? 0xFFFFFFFFu - low : static_cast<u32>(wider);
      refill();
    }
    return window.pop();
  }

  // Which of two individuals is better on the first case where they differ, and where that is.
  // Returns 0 or 1, or -1 if the question must be left to walking.
  template <class T>
  [[gnu::always_inline]] int duel(const T* a, const T* b, i64 stride, bool counts, i64* position) {
    if (!filled) fill();
    u32 a_wins = 0xFFFFFFFFu;
    u32 b_wins = 0xFFFFFFFFu;
    const i64 n = plan->cases;
    if (stride == 1) {
      for (i64 c = 0; c < n; ++c) {
        const u32 for_a = a[c] < b[c] ? keys[c] : 0xFFFFFFFFu;
        const u32 for_b = b[c] < a[c] ? keys[c] : 0xFFFFFFFFu;
        a_wins = for_a < a_wins ? for_a : a_wins;
        b_wins = for_b < b_wins ? for_b : b_wins;
      }
    } else {
      for (i64 c = 0; c < n; ++c) {
        const u32 for_a = a[c * stride] < b[c * stride] ? keys[c] : 0xFFFFFFFFu;
        const u32 for_b = b[c * stride] < a[c * stride] ? keys[c] : 0xFFFFFFFFu;
        a_wins = for_a < a_wins ? for_a : a_wins;
        b_wins = for_b < b_wins ? for_b : b_wins;
      }
    }
    if (a_wins == b_wins) return -1;
    const u32 deciding = a_wins < b_wins ? a_wins : b_wins;
    if (counts) {
      i64 earlier = 0;
      for (i64 c = 0; c < n; ++c) earlier += keys[c] < deciding;
      *position = earlier + 1;
    }
    return a_wins < b_wins ? 0 : 1;
  }

  void finish() {}
};

// -log(v) for 0 < v < 1, the same bits as flexicase.rng.negative_log.
FX_INLINE double negative_log(double v) {
  const u64 bits = std::bit_cast<u64>(v);
  int exponent = static_cast<int>(bits >> 52) - 1022;
  double mantissa = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFu) | 0x3FE0000000000000u);
  if (mantissa < 0.7071067811865476) {
    mantissa *= 2.0;
    exponent -= 1;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double z = s * s;
  double series = 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  series = series * z + 1.0;
  return -(exponent * 0.6931471805599453 + (2.0 * s) * series);
}

struct WeightedWalker {
  static constexpr bool keyed = true;
  static constexpr i64 most_duel_cases = 64;
  const OrderPlan* plan;
  u32* keys;
  Window<double> window;
  u64 state = 0;
  u64 low_lane = 0;
  i32 first_case = 0;
  bool filled = false;
  int level = 0;

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 64) * 16 + 512;
  }

  WeightedWalker(const OrderPlan& p, Carver& carver) : plan(&p) {
    keys = carver.take<u32>(padded(p.cases) + 16);
    window.carve(carver, p.cases);
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    state = event;
    filled = false;
    const double spin = Stream{lane_state(state, Lane::first)}.unit() * plan->wheel[plan->cases - 1];
    i64 at = 0;
    i64 count = plan->cases;
    while (count > 1) {
      const i64 half = count / 2;
      at += plan->wheel[at + half - 1] <= spin ? half : 0;
      count -= half;
    }
    first_case = static_cast<i32>(at);
    return first_case;
  }

  // When a case's clock rings.
  [[gnu::always_inline]] double clock(i64 c) const {
    const u64 low = case_key(low_lane, static_cast<u32>(c)) >> 12;
    const u64 numerator = (u64{keys[c]} << 21) | (low << 1) | 1;
    return negative_log(static_cast<double>((u64{1} << 53) - numerator) * 0x1p-53) / plan->weights[c];
  }

  [[gnu::always_inline]] void fill() {
    fill_keys(lane_state(state, Lane::keys), plan->cases, keys);
    low_lane = lane_state(state, Lane::low_bits);
    filled = true;
    level = 0;
    refill();
  }

  void refill() {
    window.clear();
    const i64 n = plan->cases;
    if (level < window_levels) {
      const double from = level == 0 ? 0.0 : plan->horizon[level - 1];
      const double to = plan->horizon[level];
      const u32* reachable = plan->reachable[level];
      for (i64 c = 0; c < n; c += 16) {
        u32 mask = keys_up_to16(keys + c, reachable + c);
        while (mask != 0) {
          const i64 at = c + std::countr_zero(mask);
          mask &= mask - 1;
          if (at == first_case || at >= n) continue;
          const double t = clock(at);
          if (t >= from && t < to) window.add(t, static_cast<i32>(at));
        }
      }
    } else if (level == window_levels) {
      const double from = plan->horizon[window_levels - 1];
      for (i64 c = 0; c < n; ++c) {
        if (plan->weights[c] == 0.0 || c == first_case) continue;
        const double t = clock(c);
        if (t >= from) window.add(t, static_cast<i32>(c));
      }
    } else {  // cases of weight 0 come last, in the order of their keys
      for (i64 c = 0; c < n; ++c) {
        if (plan->weights[c] == 0.0) window.add(static_cast<double>(keys[c]), static_cast<i32>(c));
      }
    }
    window.sort();
  }

  [[gnu::always_inline]] i32 next() {
    if (!filled) fill();
    while (window.empty()) {
      if (level > window_levels) return -1;
      ++level;
      refill();
    }
    return window.pop();
  }

  template <class T>
  [[gnu::always_inline]] int duel(const T* a, const T* b, i64 stride, bool counts, i64* position) {
    if (!filled) fill();
    const i64 n = plan->cases;
    i64 found = 0;
    i32 where[most_duel_cases];
    for (i64 c = 0; c < n; ++c) {
      if (sizeof(T) == 1 && stride == 1 && c + 8 <= n && same8(a + c, b + c)) {
        c += 7;
        continue;
      }
      if (a[c * stride] == b[c * stride]) continue;
      if (found == most_duel_cases) return -1;
      where[found++] = static_cast<i32>(c);
    }
    i64 decides = -1;
    double earliest = std::numeric_limits<double>::infinity();
    for (i64 i = 0; i < found; ++i) {
      if (plan->weights[where[i]] == 0.0) continue;
      const double t = clock(where[i]);
      if (t < earliest) {
        earliest = t;
        decides = where[i];
      }
    }
    if (decides < 0) return -1;
    if (counts) {
      i64 earlier = 0;
      for (i64 c = 0; c < n; ++c) {
        if (plan->weights[c] == 0.0 || c == first_case) continue;
        const double t = clock(c);
        earlier += t < earliest || (t == earliest && c < decides);
      }
      *position = earlier + 1;
    }
    return a[decides * stride] < b[decides * stride] ? 0 : 1;
  }

  void finish() {}
};

struct RankedWalker {
  static constexpr bool keyed = false;
  const OrderPlan* plan;
  i64 words;
  u64* left;        // (words,) ranks that remain
  i32* cases;       // (cases,) like by_rank, with the cases used up moved behind in each group
  i32* group_left;  // (groups,)
  i32* log_rank;    // (cases,) what was taken, to be put back
  i32* log_swap;    // (cases,)
  i64 taken = 0;
  Stream stream{0};

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 64) * 16 + static_cast<std::size_t>(p.cases / 64 + 2) * 8 + 1024;
  }

  RankedWalker(const OrderPlan& p, Carver& carver) : plan(&p), words((p.cases + 63) / 64) {
    left = carver.take<u64>(words);
    cases = carver.take<i32>(p.cases);
    group_left = carver.take<i32>(p.groups);
    log_rank = carver.take<i32>(p.cases);
    log_swap = carver.take<i32>(p.cases);
    for (i64 w = 0; w < words; ++w) left[w] = ~u64{0};
    if (p.cases % 64 != 0) left[words - 1] = (u64{1} << (p.cases % 64)) - 1;
    for (i64 c = 0; c < p.cases; ++c) cases[c] = p.by_rank[c];
    for (i64 g = 0; g < p.groups; ++g) group_left[g] = p.group_start[g + 1] - p.group_start[g];
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    stream.state = lane_state(event, Lane::ranked);
    taken = 0;
    return next();
  }

  [[gnu::always_inline]] i32 next() {
    const u64 remaining = static_cast<u64>(plan->cases - taken);
    if (remaining == 0) return -1;
    int position = static_cast<int>(stream.bounded(stream.bounded(remaining) + 1));
    i64 w = 0;
    for (int here; (here = std::popcount(left[w])) <= position; ++w) position -= here;
    const i64 rank = w * 64 + select_bit(left[w], position);
    left[w] &= ~(u64{1} << (rank % 64));
    const i32 g = plan->group_of_rank[rank];
    const i32 start = plan->group_start[g];
    const i32 size = group_left[g]--;
    const i32 swap = start + (size > 1 ? static_cast<i32>(stream.bounded(static_cast<u64>(size))) : 0);
    const i32 end = start + size - 1;
    const i32 c = cases[swap];
    cases[swap] = cases[end];
    cases[end] = c;
    log_rank[taken] = static_cast<i32>(rank);
    log_swap[taken] = swap;
    ++taken;
    return c;
  }

  template <class T>
  [[gnu::always_inline]] int duel(const T*, const T*, i64, bool, i64*) {
    return -1;
  }

  [[gnu::always_inline]] void finish() {
    while (taken > 0) {
      --taken;
      const i64 rank = log_rank[taken];
      const i32 g = plan->group_of_rank[rank];
      const i32 end = plan->group_start[g] + group_left[g]++;
      const i32 swap = log_swap[taken];
      const i32 c = cases[end];
      cases[end] = cases[swap];
      cases[swap] = c;
      left[rank / 64] |= u64{1} << (rank % 64);
    }
  }
};

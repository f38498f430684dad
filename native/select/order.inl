// Walkers: the cases of one event in order, drawn only as far as they are needed.
//
// The head of a uniform or weighted order is drawn case by case; the tail is sorted by a key per
// case. The walker looks at a window of the smallest keys first and at larger windows only if that
// one is used up.

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

// The cases of a window, smallest key first. Cases are added in ascending order; equal keys keep it.
// Windows of at most 16 are searched for the least key at each call (integers) or sorted by counting
// (doubles); larger ones are kept as a heap.
template <class K>
class Window {
 public:
  static constexpr K none = std::numeric_limits<K>::max();

  void carve(Carver& carver, i64 n) {
    keys_ = carver.take<K>(padded(n) + small);
    cases_ = carver.take<i32>(padded(n) + small);
  }

  static std::size_t scratch(i64 n) { return static_cast<std::size_t>(padded(n) + small) * (sizeof(K) + 4) + 128; }

  [[gnu::always_inline]] void clear() { size_ = at_ = 0; }

  [[gnu::always_inline]] void add(K key, i32 c) {
    keys_[size_] = key;
    cases_[size_] = c;
    ++size_;
  }

  [[gnu::always_inline]] bool empty() const { return at_ == size_; }

  // Call after the last `add`. A window with a key equal to `none` must be a heap.
  [[gnu::always_inline]] void close(bool heap) {
    heaped_ = heap || size_ > small;
    if (heaped_) {
      for (i64 i = size_ / 2; i-- > 0;) sift(i);
    } else if constexpr (std::is_floating_point_v<K>) {
      sort_by_counting<small>(
          static_cast<int>(size_), [&](int i) { return keys_[i]; },
          [&](int slot, int i) { sorted_[slot] = cases_[i]; });
    } else {
      for (int i = 0; i < small; ++i) lanes_[i] = i < size_ ? keys_[i] : none;
    }
  }

  [[gnu::always_inline]] i32 pop() {
    if (heaped_) return pop_heap();
    if constexpr (std::is_floating_point_v<K>) return sorted_[at_++];
    ++at_;
    return cases_[take_least(lanes_)];
  }

 private:
  static constexpr int small = 16;

  i32 pop_heap() {
    const i32 top = cases_[0];
    --size_;
    keys_[0] = keys_[size_];
    cases_[0] = cases_[size_];
    sift(0);
    return top;
  }

  bool before(i64 a, i64 b) const { return keys_[a] < keys_[b] || (keys_[a] == keys_[b] && cases_[a] < cases_[b]); }

  void sift(i64 i) {
    for (;;) {
      i64 child = 2 * i + 1;
      if (child >= size_) return;
      if (child + 1 < size_ && before(child + 1, child)) ++child;
      if (!before(child, i)) return;
      const K k = keys_[i];
      keys_[i] = keys_[child];
      keys_[child] = k;
      const i32 c = cases_[i];
      cases_[i] = cases_[child];
      cases_[child] = c;
      i = child;
    }
  }

  K* keys_ = nullptr;
  i32* cases_ = nullptr;
  alignas(64) u32 lanes_[small];
  i32 sorted_[small];
  i64 size_ = 0;
  i64 at_ = 0;
  bool heaped_ = false;
};

// Keys of all cases of an event, in whole vectors; those past the end are the largest. Calls
// found(c) for every case with a key below a limit.
template <class Found>
FX_INLINE void fill_keys(u64 lane, i64 cases, u32* __restrict keys, u32 limit, Found&& found) {
  for (i64 c = 0; c < cases; c += 64) {
    u64 mask = 0;
    const i64 wide = cases - c < 64 ? cases - c : 64;
    for (i64 part = 0; part < wide; part += 16) {
      mask |= u64{case_keys16(lane, static_cast<u32>(c + part), limit, keys + c + part)} << part;
    }
    if (wide < 64) mask &= (u64{1} << wide) - 1;
    for (; mask != 0; mask &= mask - 1) found(c + std::countr_zero(mask));
  }
  for (i64 c = cases; c < (cases + 15) / 16 * 16; ++c) keys[c] = 0xFFFFFFFFu;
}

// The first cases of an order: up to 16 different ones from up to 24 spins.
struct Head {
  alignas(64) i32 cases[head_cases];
  int size = 0;
  int spins = 0;

  [[gnu::always_inline]] void clear() { size = spins = 0; }

  [[gnu::always_inline]] bool has(i32 c) const {
    bool found = false;
    for (int i = 0; i < head_cases; ++i) found |= (cases[i] == c) & (i < size);
    return found;
  }

  // Spins until a new case comes up; -1 if the head is complete.
  template <class Spin>
  [[gnu::always_inline]] i32 next(i64 total, Spin&& spin) {
    while (!complete(total)) {
      ++spins;
      const i32 c = spin();
      if (has(c)) continue;
      cases[size++] = c;
      return c;
    }
    return -1;
  }

  [[gnu::always_inline]] bool complete(i64 total) const {
    return spins == head_spins || size == head_cases || size == total;
  }
};

struct UniformWalker {
  static constexpr bool keyed = true;
  static constexpr u32 no_key = Window<u32>::none;  // a real key too, once in 2^32 cases
  const OrderPlan* plan;
  u32* keys;
  Window<u32> window;
  Head head;
  u64 state = 0;
  Stream spins{0};
  bool filled = false;
  bool last_window = false;
  u32 low = 0;
  u32 width = 0;

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 32) * 4 + Window<u32>::scratch(p.cases);
  }

  UniformWalker(const OrderPlan& p, Carver& carver) : plan(&p) {
    keys = carver.take<u32>(padded(p.cases));
    window.carve(carver, p.cases);
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    state = event;
    spins.state = lane_state(state, Lane::head);
    filled = false;
    head.clear();
    window.clear();
    return next();
  }

  // The next case; -1 when there are none.
  [[gnu::always_inline]] i32 next() {
    const i32 c =
        head.next(plan->cases, [&] { return static_cast<i32>(spins.bounded(static_cast<u64>(plan->cases))); });
    if (c >= 0) return c;
    while (window.empty()) {
      if (!advance()) return -1;
    }
    return window.pop();
  }

  // Whether the next case would come from a new window of the tail.
  [[gnu::always_inline]] bool window_used_up() const { return head.complete(plan->cases) && window.empty(); }

  // The next case, in order, of those marked (all of them in the tail and still to come), and its
  // position in the order; -1 if that is left to walking.
  [[gnu::always_inline]] i32 jump(const u64* marks, bool counts, i64* position) {
    const u64 lane = lane_state(state, Lane::keys);
    u64 least = ~u64{0};
    for (i64 c = 0; c < plan->cases; c += 64) {
      for (u64 bits = marks[c / 64]; bits != 0; bits &= bits - 1) {
        const u64 at = static_cast<u64>(c + std::countr_zero(bits));
        const u64 entry = u64{case_key(lane, static_cast<u32>(at))} << 32 | at;
        least = entry < least ? entry : least;
      }
    }
    if (counts) {
      const u32 key = static_cast<u32>(least >> 32);
      i64 earlier = 0;
      for (i64 c = 0; c < plan->cases; ++c) earlier += case_key(lane, static_cast<u32>(c)) < key;
      for (int i = 0; i < head.size; ++i) earlier -= case_key(lane, static_cast<u32>(head.cases[i])) < key;
      *position = head.size + earlier;
    }
    return static_cast<i32>(least & 0xFFFFFFFFu);
  }

  void finish() {}

 private:
  // Makes the keys, and the first window from the smallest of them.
  void fill() {
    constexpr u64 expected = 12;
    const u64 wanted = (expected << 32) / static_cast<u64>(plan->cases);
    filled = true;
    low = 0;
    last_window = wanted >= no_key;
    width = last_window ? no_key : static_cast<u32>(wanted);
    window.clear();
    fill_keys(lane_state(state, Lane::keys), plan->cases, keys, width, [&](i64 c) {
      if (!head.has(static_cast<i32>(c))) window.add(keys[c], static_cast<i32>(c));
    });
    for (int i = 0; i < head.size; ++i) keys[head.cases[i]] = no_key;
    close();
  }

  bool advance() {
    if (!filled) {
      fill();
      return true;
    }
    if (last_window) return false;
    low += width;
    const u64 wider = u64{width} * 4;
    last_window = low + wider >= no_key;
    width = last_window ? no_key - low : static_cast<u32>(wider);
    window.clear();
    for (i64 c = 0; c < plan->cases; c += 16) {
      for (u32 mask = keys_within16(keys + c, low, width); mask != 0; mask &= mask - 1) {
        const i64 at = c + std::countr_zero(mask);
        window.add(keys[at], static_cast<i32>(at));
      }
    }
    close();
    return true;
  }

  [[gnu::always_inline]] void close() {
    bool largest = false;
    for (i64 c = 0; c < plan->cases && last_window; ++c) {
      if (keys[c] != no_key || head.has(static_cast<i32>(c))) continue;
      window.add(no_key, static_cast<i32>(c));
      largest = true;
    }
    window.close(largest);
  }
};

// -log(v) for 0 < v < 1, the same bits as flexicase.rng.negative_log.
FX_INLINE double negative_log(double v) {
  const u64 bits = std::bit_cast<u64>(v);
  const double half_to_one = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFu) | 0x3FE0000000000000u);
  const bool small = half_to_one < 0.7071067811865476;
  const double mantissa = small ? half_to_one * 2.0 : half_to_one;
  const double exponent = static_cast<double>(static_cast<i32>(bits >> 52) - 1022) - (small ? 1.0 : 0.0);
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
  static constexpr int all_levels = window_levels + 2;  // then all positive weights, then weight 0
  static constexpr i64 batch = 16;
  const OrderPlan* plan;
  u32* keys;
  Window<double> window;
  Head head;
  u64 state = 0;
  Stream spins{0};
  u64 key_lane = 0;
  u64 low_lane = 0;
  bool filled = false;
  int level = 0;

  static std::size_t scratch(const OrderPlan& p) {
    return static_cast<std::size_t>(padded(p.cases) + 32) * 4 + Window<double>::scratch(p.cases);
  }

  WeightedWalker(const OrderPlan& p, Carver& carver) : plan(&p) {
    keys = carver.take<u32>(padded(p.cases));
    window.carve(carver, p.cases);
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    state = event;
    spins.state = lane_state(state, Lane::head);
    key_lane = lane_state(state, Lane::keys);
    low_lane = lane_state(state, Lane::low_bits);
    filled = false;
    level = 0;
    head.clear();
    window.clear();
    return next();
  }

  [[gnu::always_inline]] i32 next() {
    const i32 c = head.next(plan->cases, [&] { return spin(); });
    if (c >= 0) return c;
    while (window.empty()) {
      if (level == all_levels) return -1;
      advance();
    }
    return window.pop();
  }

  [[gnu::always_inline]] bool window_used_up() const { return head.complete(plan->cases) && window.empty(); }

  [[gnu::always_inline]] i32 jump(const u64* marks, bool counts, i64* position) {
    constexpr i64 most = 64;
    const i64 n = plan->cases;
    i64 marked = 0;
    for (i64 c = 0; c < n; c += 64) marked += std::popcount(marks[c / 64]);
    if (marked > most) return -1;
    i64 found = -1;
    double earliest = std::numeric_limits<double>::infinity();
    for (i64 start = 0; start < n; start += 64) {
      for (u64 bits = marks[start / 64]; bits != 0; bits &= bits - 1) {
        const i64 c = start + std::countr_zero(bits);
        const double t = clock(c);  // infinite for weight 0
        if (t < earliest) {
          earliest = t;
          found = c;
        }
      }
    }
    if (found >= 0 && counts) {
      const auto is_earlier = [&](i64 c) {
        const double t = clock(c);
        return t < earliest || (t == earliest && c < found);
      };
      i64 earlier = 0;
      for (i64 c = 0; c < n; ++c) earlier += is_earlier(c);
      for (int i = 0; i < head.size; ++i) earlier -= is_earlier(head.cases[i]);
      *position = head.size + earlier;
    }
    return static_cast<i32>(found);
  }

  void finish() {}

 private:
  // The case on which the wheel stops: the first whose running sum of weights exceeds the spin.
  [[gnu::always_inline]] i32 spin() {
    const double u = spins.unit();
    const double at = u * plan->wheel[plan->cases - 1];
    i32 c = plan->guide[static_cast<i64>(u * static_cast<double>(plan->guides))];
    while (plan->wheel[c] <= at) ++c;
    return c;
  }

  [[gnu::always_inline]] void fill() {
    fill_keys(key_lane, plan->cases, keys, 0, [](i64) {});
    filled = true;
  }

  // When a case's clock rings.
  [[gnu::always_inline]] double clock(i64 c) const {
    const u64 high = case_key(key_lane, static_cast<u32>(c));
    const u64 low = case_key(low_lane, static_cast<u32>(c)) >> 12;
    const u64 numerator = (high << 21) | (low << 1) | 1;
    return negative_log(static_cast<double>(static_cast<i64>((u64{1} << 53) - numerator)) * 0x1p-53) / plan->weights[c];
  }

  // Adds those of some cases whose clocks ring from one time on and before another.
  [[gnu::always_inline]] void add_ringing(const i32* cases, i64 count, double from, double to) {
    double times[batch];
    for (i64 i = 0; i < count; ++i) times[i] = clock(cases[i]);
    for (i64 i = 0; i < count; ++i) {
      if (times[i] >= from && times[i] < to) window.add(times[i], cases[i]);
    }
  }

  void advance() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!filled) fill();
    window.clear();
    const i64 n = plan->cases;
    const double from = level == 0 ? 0.0 : plan->horizon[(level < window_levels ? level : window_levels) - 1];
    const double to = level < window_levels ? plan->horizon[level] : infinity;
    i32 pending[batch];
    i64 count = 0;
    const auto consider = [&](i64 c) {
      pending[count++] = static_cast<i32>(c);
      if (count < batch) return;
      add_ringing(pending, count, from, to);
      count = 0;
    };
    if (level < window_levels) {
      const u32* reachable = plan->reachable[level];
      for (i64 c = 0; c < n; c += 16) {
        for (u32 mask = keys_up_to16(keys + c, reachable + c); mask != 0; mask &= mask - 1) {
          const i64 at = c + std::countr_zero(mask);
          if (at < n && !head.has(static_cast<i32>(at))) consider(at);
        }
      }
    } else if (level == window_levels) {
      for (i64 c = 0; c < n; ++c) {
        if (plan->weights[c] > 0.0 && !head.has(static_cast<i32>(c))) consider(c);
      }
    } else {  // cases of weight 0 come last, in the order of their keys
      for (i64 c = 0; c < n; ++c) {
        if (plan->weights[c] == 0.0) window.add(static_cast<double>(keys[c]), static_cast<i32>(c));
      }
    }
    add_ringing(pending, count, from, to);
    window.close(false);
    ++level;
  }
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
    put_back_all();
  }

  [[gnu::always_inline]] i32 first(u64 event) {
    stream.state = lane_state(event, Lane::ranked);
    taken = 0;
    return next();
  }

  [[gnu::always_inline]] i32 next() {
    const i64 remaining = plan->cases - taken;
    if (remaining == 0) return -1;
    int position = static_cast<int>(draw_position(static_cast<u32>(remaining)));
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

  [[gnu::always_inline]] bool window_used_up() const { return false; }

  [[gnu::always_inline]] i32 jump(const u64*, bool, i64*) { return -1; }

  [[gnu::always_inline]] void finish() {
    if (taken > 16 && taken > plan->cases / 32) put_back_all();
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

 private:
  // A position from 0 up to a bound that is itself uniform on 0 … remaining - 1, from one word.
  [[gnu::always_inline]] u32 draw_position(u32 remaining) {
    const u64 word = stream.word();
    const u32 bound = stream.bounded32(static_cast<u32>(word >> 32), remaining);
    return stream.bounded32(static_cast<u32>(word), bound + 1);
  }

  void put_back_all() {
    for (i64 w = 0; w < words; ++w) left[w] = ~u64{0};
    if (plan->cases % 64 != 0) left[words - 1] = (u64{1} << (plan->cases % 64)) - 1;
    for (i64 c = 0; c < plan->cases; ++c) cases[c] = plan->by_rank[c];
    for (i64 g = 0; g < plan->groups; ++g) group_left[g] = plan->group_start[g + 1] - plan->group_start[g];
    taken = 0;
  }
};

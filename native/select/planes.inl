// Exact lexicase on sets of bits: the pool is a bit set over individuals, and one case keeps
// `pool & best[case]` unless that is empty.

template <class Walker, class T>
class PlaneEvents {
 public:
  PlaneEvents(const Planes& planes, const OrderPlan& order, const Request& request, Scratch scratch)
      : p(planes), request(request), carver{scratch.memory}, walker(order, carver) {
    pool = carver.take<u64>(p.words);
    where = carver.take<i32>(p.words);
    errors = static_cast<const T*>(p.values.data);
  }

  template <bool counts>
  void run(i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      state = event_state(request.key, request.first_event + static_cast<u64>(i) * request.event_step);
      const i64 chosen = p.kinds == 1 ? everyone_alike<counts>() : event<counts>();
      request.indices[i] = chosen;
      if constexpr (counts) store(i);
    }
  }

 private:
  template <bool counts>
  [[gnu::always_inline]] i64 event() {
    const i32 c = walker.first(state);
    if constexpr (counts) {
      used = 1;
      evaluations = p.values.rows;
      evaluations_distinct = p.kinds;
      ended = Ended::one_left;
    }
    const i32 only = p.only_best[c];
    if (only >= 0) {
      walker.finish();
      return only;
    }
    return narrow<counts>(c);
  }

  template <bool counts>
  i64 narrow(i32 c) {
    const u64* best = p.best + c * p.words;
    size = p.best_count[c];
    kinds = p.best_kinds[c];
    active = 0;
    for (i64 w = 0; w < p.words; ++w) {
      pool[active] = best[w];
      where[active] = static_cast<i32>(w);
      active += best[w] != 0;
    }
    bool may_duel = Walker::keyed;
    while (kinds > 1) {
      if (kinds == 2 && may_duel) {
        if (duel<counts>()) break;
        may_duel = false;
      }
      c = walker.next();
      if (c < 0) break;
      if constexpr (counts) {
        ++used;
        evaluations += size;
        evaluations_distinct += kinds;
      }
      keep_best<counts>(c);
    }
    walker.finish();
    return pick<counts>();
  }

  template <bool counts>
  [[gnu::always_inline]] void keep_best(i32 c) {
    const u64* best = p.best + c * p.words;
    u64 any = 0;
    if (active == p.words) {
      for (i64 w = 0; w < p.words; ++w) any |= pool[w] & best[w];
    } else {
      for (i64 k = 0; k < active; ++k) any |= pool[k] & best[where[k]];
    }
    if (any == 0) {
      if (p.two_valued == nullptr || p.two_valued[c] == 0) keep_least<counts>(c);
      return;
    }
    i64 kept = 0;
    i64 individuals = 0;
    i64 distinct = 0;
    for (i64 k = 0; k < active; ++k) {
      const i32 w = where[k];
      const u64 left = pool[k] & best[w];
      pool[kept] = left;
      where[kept] = w;
      kept += left != 0;
      if constexpr (counts) individuals += std::popcount(left);
      distinct += std::popcount(left & p.first_of_kind[w]);
    }
    active = kept;
    size = individuals;
    kinds = distinct;
  }

  // Nobody left is among the best of all on this case: compare those who are left.
  template <bool counts>
  void keep_least(i32 c) {
    const T* column = errors + c * p.values.col_stride;
    T least{};
    bool any = false;
    for (i64 k = 0; k < active; ++k) {
      for (u64 bits = pool[k] & p.first_of_kind[where[k]]; bits != 0; bits &= bits - 1) {
        const T v = column[(where[k] * i64{64} + std::countr_zero(bits)) * p.values.row_stride];
        if (!any || v < least) least = v;
        any = true;
      }
    }
    i64 kept = 0;
    i64 individuals = 0;
    i64 distinct = 0;
    for (i64 k = 0; k < active; ++k) {
      u64 left = 0;
      for (u64 bits = pool[k]; bits != 0; bits &= bits - 1) {
        const int at = std::countr_zero(bits);
        const T v = column[(where[k] * i64{64} + at) * p.values.row_stride];
        left |= static_cast<u64>(v == least) << at;
      }
      const i32 w = where[k];
      pool[kept] = left;
      where[kept] = w;
      kept += left != 0;
      individuals += std::popcount(left);
      distinct += std::popcount(left & p.first_of_kind[w]);
    }
    active = kept;
    size = individuals;
    kinds = distinct;
  }

  // Two error vectors left: the first case of the order on which they differ decides.
  template <bool counts>
  [[gnu::always_inline]] bool duel() {
    i32 rival[2];
    int found = 0;
    for (i64 k = 0; k < active; ++k) {
      for (u64 bits = pool[k] & p.first_of_kind[where[k]]; bits != 0 && found < 2; bits &= bits - 1) {
        rival[found++] = where[k] * 64 + std::countr_zero(bits);
      }
    }
    const T* a = errors + rival[0] * p.values.row_stride;
    const T* b = errors + rival[1] * p.values.row_stride;
    i64 position = 0;
    const int winner = walker.template duel<T>(a, b, p.values.col_stride, counts, &position);
    if (winner < 0) return false;
    if constexpr (counts) {
      evaluations += size * (position + 1 - used);
      evaluations_distinct += 2 * (position + 1 - used);
      used = position + 1;
    }
    i64 individuals = 0;
    i64 kept = 0;
    for (i64 k = 0; k < active; ++k) {
      u64 left = 0;
      for (u64 bits = pool[k]; bits != 0; bits &= bits - 1) {
        const int at = std::countr_zero(bits);
        left |= static_cast<u64>(p.kind[where[k] * 64 + at] == rival[winner]) << at;
      }
      pool[kept] = left;
      where[kept] = where[k];
      kept += left != 0;
      individuals += std::popcount(left);
    }
    active = kept;
    size = individuals;
    kinds = 1;
    return true;
  }

  // A random member of the pool; if it has several, no later case could have parted them.
  template <bool counts>
  [[gnu::always_inline]] i64 pick() {
    if constexpr (!counts) {
      size = 0;
      for (i64 k = 0; k < active; ++k) size += std::popcount(pool[k]);
    }
    i64 which = 0;
    if (size > 1) {
      which = static_cast<i64>(Stream{lane_state(state, Lane::pick)}.bounded(static_cast<u64>(size)));
      if constexpr (counts) {
        const i64 cases = p.values.cols;
        evaluations += size * (cases - used);
        used = cases;
        ended = Ended::cases_exhausted;
      }
    }
    for (i64 k = 0;; ++k) {
      const int here = std::popcount(pool[k]);
      if (which < here) return where[k] * i64{64} + select_bit(pool[k], static_cast<int>(which));
      which -= here;
    }
  }

  template <bool counts>
  i64 everyone_alike() {
    const i64 rows = p.values.rows;
    if constexpr (counts) {
      used = rows > 1 ? p.values.cols : 0;
      evaluations = rows * used;
      evaluations_distinct = 0;
      ended = rows > 1 ? Ended::cases_exhausted : Ended::one_left;
    }
    return static_cast<i64>(Stream{lane_state(state, Lane::pick)}.bounded(static_cast<u64>(rows)));
  }

  void store(i64 i) {
    request.evaluations[i] = evaluations;
    request.evaluations_distinct[i] = evaluations_distinct;
    request.cases_used[i] = used;
    request.ended[i] = static_cast<u8>(ended);
  }

  const Planes& p;
  const Request& request;
  Carver carver;
  Walker walker;
  const T* errors;
  u64* pool;   // (words,) the non-empty words of the pool
  i32* where;  // (words,) which words they are
  i64 active = 0;
  i64 size = 0;
  i64 kinds = 0;
  u64 state = 0;
  i64 evaluations = 0;
  i64 evaluations_distinct = 0;
  i64 used = 0;
  Ended ended = Ended::one_left;
};

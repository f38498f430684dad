// Sorting a handful of numbers by counting, for each, how many are smaller.

// Calls place(slot, i) for i = 0 … n-1, where the i-th number belongs into the slot-th place; equal
// numbers keep their order. Ranks are doubles to stay in one kind of vector.
template <int room, class Get, class Place>
FX_INLINE void sort_by_counting(int n, Get&& get, Place&& place) {
  alignas(64) double x[room];
  alignas(64) double rank[room] = {};
  for (int i = 0; i < n; ++i) x[i] = get(i);
  for (int i = n; i < room; ++i) x[i] = infinity;
  for (int j = 0; j < n; ++j) {
    const double v = x[j];
    for (int i = 0; i < room; ++i) rank[i] += v < x[i] ? 1.0 : 0.0;
  }
  u64 taken = 0;
  for (int i = 0; i < n; ++i) {
    int slot = static_cast<int>(rank[i]);
    while ((taken >> slot & 1) != 0) ++slot;
    taken |= u64{1} << slot;
    place(slot, i);
  }
}

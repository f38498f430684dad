#include "select/probabilities/pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "flexicase/bits.hpp"

namespace flexicase {

namespace {

constexpr double most_comparisons = 1e9;

// Calls f with an entry of any type. All else here works on keys or on numbers, so that it is compiled once.
template <class F>
auto with_entry(const MatrixView& m, std::int64_t row, std::int64_t col, F&& f) {
  return with_type(
      m.type, [&]<class T>(T) { return f(static_cast<const T*>(m.data)[row * m.row_stride + col * m.col_stride]); });
}

std::uint64_t key_of(const MatrixView& m, std::int64_t row, std::int64_t col) {
  return with_entry(m, row, col, [](auto v) { return ordered_bits(v); });
}

double number_of(const MatrixView& m, std::int64_t row, std::int64_t col) {
  return with_entry(m, row, col, [](auto v) { return as_double(v); });
}

// Individuals with the best error of all on some case. After the first case that tells individuals apart,
// an exact filter has left no others.
std::vector<std::uint8_t> ever_best(const MatrixView& m, Watch& watch) {
  std::vector<std::uint8_t> is_best(static_cast<std::size_t>(m.rows), m.cols == 0);
  std::vector<std::uint64_t> minima(static_cast<std::size_t>(m.cols));
  for (std::int64_t c = 0; c < m.cols; ++c) minima[static_cast<std::size_t>(c)] = key_of(m, 0, c);
  bool differs = false;
  std::vector<std::uint8_t> constant(static_cast<std::size_t>(m.cols), 1);
  for (std::int64_t r = 0; r < m.rows; ++r) {
    watch.spend(4 * m.cols);
    for (std::int64_t c = 0; c < m.cols; ++c) {
      const std::uint64_t key = key_of(m, r, c);
      std::uint64_t& least = minima[static_cast<std::size_t>(c)];
      if (key == least) continue;
      constant[static_cast<std::size_t>(c)] = 0;
      differs = true;
      least = std::min(least, key);
    }
  }
  for (std::int64_t r = 0; r < m.rows; ++r) {
    watch.spend(4 * m.cols);
    std::uint8_t& best = is_best[static_cast<std::size_t>(r)];
    best |= !differs;
    for (std::int64_t c = 0; c < m.cols && best == 0; ++c) {
      const auto i = static_cast<std::size_t>(c);
      best = constant[i] == 0 && key_of(m, r, c) == minima[i];
    }
  }
  return is_best;
}

// A case of the pool with these errors, as keys or as numbers. A level that is the best of the pool keeps those within
// `tolerance` of it; keys have none.
template <class T>
Column make_column(const std::vector<T>& errors, double tolerance) {
  std::vector<T> levels = errors;
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  Column column;
  column.code.reserve(errors.size());
  for (const T error : errors) {
    const auto at = std::lower_bound(levels.begin(), levels.end(), error);
    column.code.push_back(static_cast<std::uint32_t>(at - levels.begin()));
  }
  column.reach.resize(levels.size());
  std::size_t last = 0;
  for (std::size_t v = 0; v < levels.size(); ++v) {
    last = std::max(last, v);
    if constexpr (std::is_same_v<T, double>) {
      while (last + 1 < levels.size() && levels[last + 1] <= levels[v] + tolerance) ++last;
    }
    column.reach[v] = static_cast<std::uint32_t>(last);
  }
  return column;
}

template <class T>
std::vector<T> errors_of(const MatrixView& m, const std::vector<std::int64_t>& rows, std::int64_t c,
                         T (*entry)(const MatrixView&, std::int64_t, std::int64_t)) {
  std::vector<T> errors;
  errors.reserve(rows.size());
  for (const std::int64_t row : rows) errors.push_back(entry(m, row, c));
  return errors;
}

// Numbers the levels of an exact column afresh, leaving out those that no member has.
void close_gaps(Column& column) {
  std::vector<std::uint32_t> place(column.levels(), 0);
  for (const std::uint32_t code : column.code) place[code] = 1;
  std::uint32_t next = 0;
  for (std::uint32_t& p : place) p = p != 0 ? next++ : 0;
  for (std::uint32_t& code : column.code) code = place[code];
  column.reach.resize(next);
  std::iota(column.reach.begin(), column.reach.end(), 0u);
}

}  // namespace

std::vector<double> Pool::share(const std::vector<double>& outcome) const {
  std::vector<double> probabilities(member_of.size(), 0.0);
  const double total = std::accumulate(outcome.begin(), outcome.end(), 0.0);  // 1, but for rounding
  for (std::size_t r = 0; r < member_of.size(); ++r) {
    if (member_of[r] < 0) continue;
    const auto i = static_cast<std::size_t>(member_of[r]);
    probabilities[r] = outcome[i] / (copies[i] * total);
  }
  return probabilities;
}

Pool make_pool(const Matrix& matrix, bool uncut_exact, Watch& watch) {
  const MatrixView& m = matrix.original();
  const std::vector<std::int32_t>& unique_rows = matrix.unique_rows();
  std::vector<std::uint8_t> wanted;
  if (uncut_exact) wanted = ever_best(m, watch);
  Pool pool;
  pool.member_of.assign(static_cast<std::size_t>(m.rows), -1);
  for (std::size_t r = 0; r < pool.member_of.size(); ++r) {
    const auto first = static_cast<std::size_t>(unique_rows[r]);
    if (uncut_exact && wanted[first] == 0) continue;
    if (first == r) {
      pool.member_of[r] = static_cast<std::int64_t>(pool.size());
      pool.rows.push_back(static_cast<std::int64_t>(r));
      pool.copies.push_back(0.0);
    }
    pool.member_of[r] = pool.member_of[first];
    pool.copies[static_cast<std::size_t>(pool.member_of[r])] += 1.0;
  }
  if (pool.size() == 0) return make_pool(matrix, false, watch);  // the caller has changed the errors meanwhile
  return pool;
}

std::vector<Column> make_columns(const Matrix& matrix, const Pool& pool, const KernelOptions& options, Watch& watch) {
  const MatrixView& m = matrix.original();
  const bool exact = options.tolerance == Tolerance::none;
  const std::vector<double> tolerances = make_tolerances(matrix, options, watch);
  std::vector<Column> columns;
  columns.reserve(static_cast<std::size_t>(m.cols));
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const auto i = static_cast<std::size_t>(c);
    watch.spend(static_cast<std::int64_t>(100 * pool.size()));
    columns.push_back(exact ? make_column(errors_of(m, pool.rows, c, key_of), 0.0)
                            : make_column(errors_of(m, pool.rows, c, number_of), tolerances[i]));
    columns.back().weight = options.weights.empty() ? 1.0 : options.weights[i];
  }
  return columns;
}

void drop_dominated(Pool& pool, std::vector<Column>& columns, Watch& watch) {
  const std::size_t n = pool.size();
  const std::size_t m = columns.size();
  std::vector<std::uint32_t> by_row(n * m);
  std::vector<std::uint64_t> total(n, 0);
  for (std::size_t c = 0; c < m; ++c) {
    watch.spend(static_cast<std::int64_t>(4 * n));
    for (std::size_t i = 0; i < n; ++i) total[i] += by_row[i * m + c] = columns[c].code[i];
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return total[a] < total[b]; });
  std::vector<std::size_t> front;
  double comparisons = 0;
  for (const std::size_t i : order) {
    const std::uint32_t* mine = by_row.data() + i * m;
    const bool dominated = comparisons < most_comparisons &&
                           std::any_of(
                               front.begin(), front.end(),
                               [&](std::size_t a) {
                                 const std::uint32_t* its = by_row.data() + a * m;
                                 const std::uint32_t* end = its + m;
                                 const auto better = std::mismatch(its, end, mine, std::less_equal<>{}).first;
                                 comparisons += static_cast<double>(better - its) + 1;
                                 watch.spend(better - its + 5);
                                 return better == end;
                               });
    if (!dominated) front.push_back(i);
  }
  if (front.size() == n) return;
  std::sort(front.begin(), front.end());
  Pool kept;
  std::vector<std::int64_t> place(n, -1);
  for (const std::size_t i : front) {
    place[i] = static_cast<std::int64_t>(kept.size());
    kept.rows.push_back(pool.rows[i]);
    kept.copies.push_back(pool.copies[i]);
  }
  for (const std::int64_t i : pool.member_of) {
    kept.member_of.push_back(i < 0 ? -1 : place[static_cast<std::size_t>(i)]);
  }
  pool = std::move(kept);
  for (Column& column : columns) {
    for (std::size_t k = 0; k < front.size(); ++k) column.code[k] = column.code[front[k]];
    column.code.resize(front.size());
    close_gaps(column);
  }
}

std::vector<double> make_values(const Matrix& matrix, const Pool& pool, Watch& watch) {
  const MatrixView& m = matrix.original();
  std::vector<double> values(pool.size() * static_cast<std::size_t>(m.cols));
  auto out = values.begin();
  for (const std::int64_t row : pool.rows) {
    watch.spend(2 * m.cols);
    for (std::int64_t c = 0; c < m.cols; ++c) *out++ = number_of(m, row, c);
  }
  return values;
}

std::vector<double> make_tolerances(const Matrix& matrix, const KernelOptions& options, Watch& watch) {
  const MatrixView& m = matrix.original();
  if (options.tolerance == Tolerance::fixed) return options.epsilon;
  std::vector<double> tolerances(static_cast<std::size_t>(m.cols), 0.0);
  if (options.tolerance != Tolerance::mad) return tolerances;
  std::vector<double> errors(static_cast<std::size_t>(m.rows));
  std::vector<double> work;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    watch.spend(20 * m.rows);
    for (std::int64_t r = 0; r < m.rows; ++r) errors[static_cast<std::size_t>(r)] = number_of(m, r, c);
    tolerances[static_cast<std::size_t>(c)] = median_absolute_deviation(errors, work);
  }
  return tolerances;
}

bool sums_are_exact(const std::vector<double>& values, const std::vector<double>& tolerances) {
  constexpr double unit = 0x1p10;
  constexpr double most = 0x1p42;
  const std::size_t n = tolerances.empty() ? 0 : values.size() / tolerances.size();
  std::vector<double> totals(n + 1, 0.0);
  const auto add = [&](std::size_t to, double v) {
    if (v == std::numeric_limits<double>::infinity()) return true;
    totals[to] += std::fabs(v);
    return std::floor(v * unit) == v * unit && totals[to] <= most;
  };
  for (std::size_t c = 0; c < tolerances.size(); ++c) {
    if (!add(n, tolerances[c])) return false;
    for (std::size_t i = 0; i < n; ++i) {
      if (!add(i, values[c * n + i])) return false;
    }
  }
  return true;
}

void list_members(const std::uint64_t* set, std::size_t words, std::vector<std::uint32_t>& members) {
  members.clear();
  for (std::size_t w = 0; w < words; ++w) {
    for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
      members.push_back(static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(lowest_bit(rest)));
    }
  }
}

void share_among(const std::vector<std::uint32_t>& members, const std::vector<double>& copies, double probability,
                 std::vector<double>& outcome) {
  double total = 0.0;
  for (const std::uint32_t i : members) total += copies[i];
  for (const std::uint32_t i : members) outcome[i] += probability * copies[i] / total;
}

}  // namespace flexicase

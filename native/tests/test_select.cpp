// The selection kernels, called without Python.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "flexicase/kernel.hpp"
#include "flexicase/matrix.hpp"
#include "flexicase/rng.hpp"
#include "flexicase/selector.hpp"
#include "testing.hpp"

namespace {

using namespace flexicase;

constexpr Key test_key{0x0123456789ABCDEFu, 0xFEDCBA9876543210u};

// Errors in row-major order, with what the tests read off them directly.
template <class T>
struct Errors {
  std::int64_t rows;
  std::int64_t cols;
  std::vector<T> values;

  T at(std::int64_t r, std::int64_t c) const { return values[static_cast<std::size_t>(r * cols + c)]; }

  MatrixView view() const { return matrix_view(values.data(), rows, cols); }

  std::shared_ptr<Matrix> matrix() const { return std::make_shared<Matrix>(view()); }

  bool same(std::int64_t a, std::int64_t b) const {
    for (std::int64_t c = 0; c < cols; ++c) {
      if (at(a, c) != at(b, c)) return false;
    }
    return true;
  }

  bool dominates(std::int64_t a, std::int64_t b) const {
    for (std::int64_t c = 0; c < cols; ++c) {
      if (at(a, c) > at(b, c)) return false;
    }
    return !same(a, b);
  }
};

// `levels` different errors; about a third of the rows repeat the row before them.
template <class T>
Errors<T> random_errors(std::int64_t rows, std::int64_t cols, std::uint64_t levels, std::uint64_t seed) {
  Stream stream{mix64(seed)};
  Errors<T> errors{rows, cols, std::vector<T>(static_cast<std::size_t>(rows * cols))};
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool repeat = r > 0 && stream.bounded(3) == 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      const T fresh = static_cast<T>(stream.bounded(levels));
      errors.values[static_cast<std::size_t>(r * cols + c)] = repeat ? errors.at(r - 1, c) : fresh;
    }
  }
  return errors;
}

KernelOptions exact_options(std::int64_t cols) {
  KernelOptions options;
  options.depth = cols;
  return options;
}

// The same filter on the code path that keeps its pool as a list.
KernelOptions as_list(KernelOptions options, std::int64_t cols) {
  options.tolerance = Tolerance::fixed;
  options.epsilon.assign(static_cast<std::size_t>(cols), 0.0);
  return options;
}

// Weights with ties and zeros, the largest 1.
std::vector<double> test_weights(std::int64_t cols) {
  std::vector<double> weights(static_cast<std::size_t>(cols));
  for (std::size_t c = 0; c < weights.size(); ++c) weights[c] = static_cast<double>((c * 7 + 5) % 6) / 5.0;
  weights[0] = 1.0;
  return weights;
}

std::vector<KernelOptions> every_order(std::int64_t cols) {
  std::vector<KernelOptions> all(3, exact_options(cols));
  all[1].weights = all[2].weights = test_weights(cols);
  all[2].ranked = true;
  return all;
}

struct Outcome {
  std::vector<std::int64_t> indices, evaluations, distinct, used;
  std::vector<std::uint8_t> ended;

  bool operator==(const Outcome&) const = default;
};

std::size_t distinct_parents(const Outcome& out) { return std::set(out.indices.begin(), out.indices.end()).size(); }

struct DrawOptions {
  bool counts = true;
  int threads = 1;
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint8_t* taken = nullptr;
};

Outcome draw(Kernel& kernel, std::int64_t n, DrawOptions how = {}) {
  const auto size = static_cast<std::size_t>(n);
  Outcome out;
  out.indices.assign(size, -1);
  Request request{test_key, how.first, how.step, out.indices.data()};
  if (how.counts) {
    for (auto* counts : {&out.evaluations, &out.distinct, &out.used}) counts->assign(size, -1);
    out.ended.assign(size, 255);
    request.evaluations = out.evaluations.data();
    request.evaluations_distinct = out.distinct.data();
    request.cases_used = out.used.data();
    request.ended = out.ended.data();
  }
  request.taken = how.taken;
  kernel.draw(request, n, how.threads);
  return out;
}

template <class T>
Outcome draw(const Errors<T>& errors, KernelOptions options, std::int64_t n, DrawOptions how = {}) {
  Kernel kernel(errors.matrix(), std::move(options));
  return draw(kernel, n, how);
}

struct Shape {
  std::int64_t rows, cols;
};
constexpr Shape shapes[] = {{1, 1}, {2, 3}, {7, 5}, {64, 10}, {65, 33}, {130, 200}, {700, 20}};

template <class T>
void exact_and_epsilon_events_agree(std::uint64_t levels) {
  for (const auto [rows, cols] : shapes) {
    const auto errors = random_errors<T>(rows, cols, levels, static_cast<std::uint64_t>(rows * 1000 + cols));
    for (const KernelOptions& options : every_order(cols)) {
      CHECK(draw(errors, options, 200) == draw(errors, as_list(options, cols), 200));
    }
  }
}

TEST(sets_and_lists_agree_on_pass_fail) { exact_and_epsilon_events_agree<std::uint8_t>(2); }
TEST(sets_and_lists_agree_on_int8) { exact_and_epsilon_events_agree<std::int8_t>(5); }
TEST(sets_and_lists_agree_on_uint16_beyond_a_byte) { exact_and_epsilon_events_agree<std::uint16_t>(60000); }
TEST(sets_and_lists_agree_on_int16) { exact_and_epsilon_events_agree<std::int16_t>(4); }
TEST(sets_and_lists_agree_on_uint32) { exact_and_epsilon_events_agree<std::uint32_t>(3); }
TEST(sets_and_lists_agree_on_int32_beyond_a_byte) { exact_and_epsilon_events_agree<std::int32_t>(100000); }
TEST(sets_and_lists_agree_on_uint64) { exact_and_epsilon_events_agree<std::uint64_t>(3); }
TEST(sets_and_lists_agree_on_int64) { exact_and_epsilon_events_agree<std::int64_t>(1000); }
TEST(sets_and_lists_agree_on_float32) { exact_and_epsilon_events_agree<float>(6); }
TEST(sets_and_lists_agree_on_float64_beyond_a_byte) { exact_and_epsilon_events_agree<double>(std::uint64_t{1} << 50); }

TEST(no_parent_is_dominated_and_counts_are_possible) {
  for (const auto [rows, cols] : shapes) {
    const auto errors = random_errors<std::int32_t>(rows, cols, 4, static_cast<std::uint64_t>(rows));
    const std::int64_t unique_rows = errors.matrix()->n_unique_rows();
    for (const KernelOptions& options : every_order(cols)) {
      const Outcome out = draw(errors, options, 60);
      for (std::size_t i = 0; i < out.indices.size(); ++i) {
        const std::int64_t parent = out.indices[i];
        CHECK(parent >= 0 && parent < rows);
        for (std::int64_t r = 0; r < rows; ++r) CHECK(!errors.dominates(r, parent));
        CHECK(out.used[i] >= (unique_rows > 1 ? 1 : 0) && out.used[i] <= cols);
        CHECK(out.evaluations[i] >= rows + out.used[i] - 1 || out.used[i] == 0);
        CHECK(out.evaluations[i] <= rows * out.used[i]);
        CHECK(out.distinct[i] <= out.evaluations[i]);
        CHECK(out.ended[i] == 0 || (out.ended[i] == 1 && out.used[i] == cols));
      }
    }
  }
}

TEST(pools_of_ten_three_and_one_cost_thirteen_evaluations) {
  Errors<int> errors{10, 2, std::vector<int>(20, 1)};
  for (const std::size_t r : {2u, 5u, 8u}) errors.values[r * 2] = 0;
  errors.values[5 * 2 + 1] = 0;
  KernelOptions options = exact_options(2);
  options.weights = {1.0, 0.0};
  const Outcome out = draw(errors, options, 50);
  for (std::size_t i = 0; i < out.indices.size(); ++i) {
    CHECK_EQUAL(out.indices[i], 5);
    CHECK_EQUAL(out.evaluations[i], 13);
    CHECK_EQUAL(out.distinct[i], 3 + 2);
    CHECK_EQUAL(out.used[i], 2);
    CHECK_EQUAL(int{out.ended[i]}, 0);
  }
}

std::vector<KernelOptions> every_filter(std::int64_t cols) {
  std::vector<KernelOptions> all = every_order(cols);
  for (const Tolerance tolerance : {Tolerance::mad, Tolerance::dynamic_mad}) {
    all.push_back(exact_options(cols));
    all.back().tolerance = tolerance;
  }
  all.push_back(exact_options(cols));
  all.back().batch = 3;
  all.push_back(exact_options(cols));
  all.back().random_depth = true;
  all.push_back(exact_options(cols));
  all.back().slippage = 0.2;
  return all;
}

TEST(threads_change_nothing) {
  const auto errors = random_errors<float>(150, 40, 50, 1);
  for (const KernelOptions& options : every_filter(40)) {
    const Outcome alone = draw(errors, options, 1003);
    for (const int threads : {2, 5}) CHECK(draw(errors, options, 1003, {.threads = threads}) == alone);
  }
}

TEST(counting_changes_no_parent) {
  const auto errors = random_errors<std::int16_t>(150, 40, 3, 2);
  for (const KernelOptions& options : every_filter(40)) {
    CHECK(draw(errors, options, 500, {.counts = false}).indices == draw(errors, options, 500).indices);
  }
}

TEST(events_do_not_depend_on_how_they_are_asked_for) {
  const auto errors = random_errors<std::int16_t>(90, 30, 3, 3);
  for (const KernelOptions& options : every_filter(30)) {
    Kernel kernel(errors.matrix(), options);
    const Outcome whole = draw(kernel, 100);
    const Outcome tail = draw(kernel, 60, {.first = 40});
    const Outcome odd = draw(kernel, 50, {.first = 1, .step = 2});
    for (std::size_t i = 0; i < 60; ++i) CHECK_EQUAL(tail.indices[i], whole.indices[40 + i]);
    for (std::size_t i = 0; i < 50; ++i) CHECK_EQUAL(odd.evaluations[i], whole.evaluations[1 + 2 * i]);
  }
}

TEST(memory_layout_changes_nothing) {
  const auto errors = random_errors<std::int32_t>(100, 37, 5, 4);
  std::vector<std::int32_t> by_case(errors.values.size());
  for (std::int64_t r = 0; r < errors.rows; ++r) {
    for (std::int64_t c = 0; c < errors.cols; ++c) {
      by_case[static_cast<std::size_t>(c * errors.rows + r)] = errors.at(r, c);
    }
  }
  const MatrixView view{by_case.data(), DType::i32, errors.rows, errors.cols, 1, errors.rows};
  for (const KernelOptions& options : every_filter(37)) {
    Kernel kernel(std::make_shared<Matrix>(view), options);
    CHECK(draw(kernel, 300) == draw(errors, options, 300));
  }
}

TEST(entry_type_changes_nothing) {
  const auto bytes = random_errors<std::uint8_t>(100, 37, 5, 5);
  const Errors<double> doubles{100, 37, {bytes.values.begin(), bytes.values.end()}};
  for (const KernelOptions& options : every_filter(37)) {
    CHECK(draw(bytes, options, 300) == draw(doubles, options, 300));
  }
}

TEST(depth_limits_the_cases_looked_at) {
  const auto errors = random_errors<std::uint8_t>(200, 30, 2, 6);
  KernelOptions options = exact_options(30);
  for (const std::int64_t depth : {0, 1, 4}) {
    options.depth = depth;
    const Outcome out = draw(errors, options, 200);
    for (std::size_t i = 0; i < 200; ++i) {
      CHECK(out.used[i] <= depth);
      CHECK(out.ended[i] == 0 || out.used[i] == depth);
    }
  }
}

TEST(certain_slippage_looks_at_no_case) {
  const auto errors = random_errors<std::uint8_t>(20, 30, 2, 7);
  KernelOptions options = exact_options(30);
  options.slippage = 1.0;
  const Outcome out = draw(errors, options, 500);
  CHECK(std::all_of(out.used.begin(), out.used.end(), [](auto used) { return used == 0; }));
  CHECK_EQUAL(distinct_parents(out), 20u);
}

TEST(one_batch_of_all_cases_picks_the_lowest_total) {
  const auto errors = random_errors<std::int32_t>(50, 8, 1000, 8);
  KernelOptions options = exact_options(8);
  options.batch = 8;
  const Outcome out = draw(errors, options, 20);
  const auto total = [&](std::int64_t r) {
    return std::accumulate(&errors.values[r * 8], &errors.values[r * 8] + 8, 0);
  };
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::int64_t r = 0; r < 50; ++r) CHECK(total(out.indices[i]) <= total(r));
    CHECK_EQUAL(out.evaluations[i], 50 * 8);
  }
}

TEST(without_replacement_every_parent_comes_once_and_the_first_as_ever) {
  for (const auto [rows, cols] : shapes) {
    const auto errors = random_errors<std::uint8_t>(rows, cols, 3, 4);
    for (const KernelOptions& options : every_order(cols)) {
      Kernel kernel(errors.matrix(), options);
      std::vector<std::uint8_t> taken(static_cast<std::size_t>(rows), 0);
      const Outcome out = draw(kernel, rows, {.threads = 4, .taken = taken.data()});
      CHECK_EQUAL(distinct_parents(out), taken.size());
      CHECK(std::all_of(taken.begin(), taken.end(), [](auto t) { return t == 1; }));
      const Outcome first = draw(kernel, 1);
      CHECK(first.indices[0] == out.indices[0] && first.evaluations[0] == out.evaluations[0]);
      CHECK(first.distinct[0] == out.distinct[0] && first.ended[0] == out.ended[0]);
    }
  }
}

TEST(no_cases_means_a_random_parent) {
  const Errors<double> errors{6, 0, {}};
  const Outcome out = draw(errors, exact_options(0), 300);
  CHECK_EQUAL(distinct_parents(out), 6u);
  CHECK(std::all_of(out.evaluations.begin(), out.evaluations.end(), [](auto count) { return count == 0; }));
}

TEST(entries_that_cannot_be_ordered_are_found) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t levels : {3, 1 << 20}) {
    auto errors = random_errors<double>(70, 19, static_cast<std::uint64_t>(levels), 9);
    CHECK(!errors.matrix()->bad_entry());
    errors.values[0] = inf;
    errors.values[5] = -inf;
    CHECK(!errors.matrix()->bad_entry());
    errors.values[66 * 19 + 18] = std::numeric_limits<double>::quiet_NaN();
    const auto found = errors.matrix()->bad_entry();
    CHECK(found && found->first == 66 && found->second == 18);
  }
}

template <class T>
void summaries_are_right(std::uint64_t levels) {
  const auto errors = random_errors<T>(131, 23, levels, 10);
  const auto matrix = errors.matrix();
  const auto zeros = matrix->zeros();
  for (std::int64_t c = 0; c < errors.cols; ++c) {
    std::int64_t expected = 0;
    for (std::int64_t r = 0; r < errors.rows; ++r) expected += errors.at(r, c) == T{0};
    CHECK_EQUAL(zeros[static_cast<std::size_t>(c)], expected);
  }
  const auto& unique_rows = matrix->unique_rows();
  for (std::int64_t r = 0; r < errors.rows; ++r) {
    std::int64_t first = 0;
    while (!errors.same(first, r)) ++first;
    CHECK_EQUAL(unique_rows[static_cast<std::size_t>(r)], first);
  }
}

TEST(zeros_and_unique_rows_of_bytes) { summaries_are_right<std::uint8_t>(2); }
TEST(zeros_and_unique_rows_of_coded_ints) { summaries_are_right<std::int64_t>(3); }
TEST(zeros_and_unique_rows_of_doubles) { summaries_are_right<double>(std::uint64_t{1} << 40); }

TEST(case_keys_of_one_event_all_differ) {
  std::vector<std::uint32_t> keys(1 << 16);
  for (std::uint32_t c = 0; c < keys.size(); ++c)
    keys[c] = case_key(lane_state(event_state(test_key, 3), Lane::keys), c);
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

// Individual r alone is best on case r, so it is chosen as often as case r comes first.
void first_case_frequencies(const KernelOptions& options, const std::vector<double>& expected) {
  constexpr std::int64_t n = 60000;
  const auto size = static_cast<std::int64_t>(expected.size());
  Errors<int> errors{size, size, std::vector<int>(expected.size() * expected.size(), 1)};
  for (std::size_t r = 0; r < expected.size(); ++r) errors.values[r * expected.size() + r] = 0;
  for (const KernelOptions& path : {options, as_list(options, size)}) {
    const Outcome out = draw(errors, path, n);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      const auto found = std::count(out.indices.begin(), out.indices.end(), static_cast<std::int64_t>(r));
      const double deviation = std::sqrt(n * expected[r] * (1.0 - expected[r]));
      CHECK(std::abs(static_cast<double>(found) - n * expected[r]) < 4.5 * deviation);
    }
  }
}

TEST(uniform_orders_start_with_every_case_alike) {
  first_case_frequencies(exact_options(5), {0.2, 0.2, 0.2, 0.2, 0.2});
}

TEST(weighted_orders_start_in_proportion_to_the_weights) {
  KernelOptions options = exact_options(4);
  options.weights = {0.5, 1.0, 0.25, 0.25};
  first_case_frequencies(options, {0.25, 0.5, 0.125, 0.125});
}

TEST(ranked_orders_start_as_the_upper_bound_rule_says) {
  KernelOptions options = exact_options(4);
  options.weights = {3.0, 9.0, 1.0, 2.0};
  options.ranked = true;
  first_case_frequencies(options, {13.0 / 48, 25.0 / 48, 3.0 / 48, 7.0 / 48});
}

}  // namespace

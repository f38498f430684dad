// What threads share: matrices, kernels, programs and the layer that runs them. `make tsan` runs these under the thread
// sanitizer.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "flexicase/baselines.hpp"
#include "flexicase/kernel.hpp"
#include "flexicase/matrix.hpp"
#include "flexicase/parallel.hpp"
#include "fuzz_populations.hpp"
#include "testing.hpp"

namespace {

using namespace flexicase;

struct Errors {
  std::int64_t rows, cols;
  std::vector<double> values;
  bool by_columns = false;

  MatrixView view() const {
    return {values.data(), DType::f64, rows, cols, by_columns ? 1 : cols, by_columns ? rows : 1};
  }
};

// `levels` different errors; the first rows are equal and never best.
Errors make_errors(std::int64_t rows, std::int64_t cols, std::uint64_t levels, bool by_columns = false) {
  Stream stream{mix64(levels)};
  Errors errors{rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols)), by_columns};
  for (double& value : errors.values) value = static_cast<double>(stream.bounded(levels)) + 0.25;
  for (std::int64_t r = 0; r < rows / 5; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      errors.values[static_cast<std::size_t>(by_columns ? c * rows + r : r * cols + c)] = 1e18;
    }
  }
  return errors;
}

KernelOptions options_for(std::int64_t cols, Tolerance tolerance = Tolerance::none) {
  KernelOptions options;
  options.depth = cols;
  options.tolerance = tolerance;
  return options;
}

std::vector<std::int64_t> draw(Kernel& kernel, std::int64_t n, bool counts, int threads) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int64_t> indices(size), evaluations(size), distinct(size), used(size);
  std::vector<std::uint8_t> ended(size);
  Request request{{1, 2}, 0, 1, indices.data()};
  if (counts) {
    request.evaluations = evaluations.data();
    request.evaluations_distinct = distinct.data();
    request.cases_used = used.data();
    request.ended = ended.data();
  }
  kernel.draw(request, n, threads);
  return indices;
}

// Calls f(0) … f(n-1) at the same time; throws what one of them throws.
void at_once(int n, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  std::mutex lock;
  std::exception_ptr thrown;
  for (int k = 0; k < n; ++k) {
    threads.emplace_back([&, k] {
      try {
        f(k);
      } catch (...) {
        const std::lock_guard guard(lock);
        thrown = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (thrown) std::rethrow_exception(thrown);
}

TEST(one_kernel_draws_with_and_without_counts_on_several_threads) {
  for (const std::uint64_t levels : {3u, 1u << 30}) {
    const Errors errors = make_errors(120, 60, levels);
    Kernel alone(std::make_shared<Matrix>(errors.view()), options_for(60));
    const auto expected = draw(alone, 300, true, 1);
    for (int round = 0; round < 5; ++round) {
      Kernel kernel(std::make_shared<Matrix>(errors.view()), options_for(60));
      at_once(6, [&](int k) { CHECK(draw(kernel, 300, k % 2 == 0, 1 + k % 3) == expected); });
    }
  }
}

TEST(kernels_share_a_matrix) {
  const Errors errors = make_errors(100, 40, 4);
  const auto matrix = std::make_shared<Matrix>(errors.view());
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const Tolerance tolerance : {Tolerance::none, Tolerance::mad, Tolerance::dynamic_mad}) {
    kernels.push_back(std::make_unique<Kernel>(matrix, options_for(40, tolerance)));
  }
  at_once(6, [&](int k) {
    draw(*kernels[static_cast<std::size_t>(k % 3)], 200, k >= 3, 1);
    matrix->memory();
    matrix->unique_rows();
    matrix->zeros();
  });
}

TEST(threads_fill_the_columns_of_an_epsilon_filter) {
  for (const bool by_columns : {false, true}) {
    const Errors errors = make_errors(150, 30, 1u << 30, by_columns);
    const auto matrix = std::make_shared<Matrix>(errors.view());
    Kernel alone(matrix, options_for(30, Tolerance::mad));
    const auto expected = draw(alone, 400, false, 1);
    Kernel kernel(matrix, options_for(30, Tolerance::mad));
    at_once(4, [&](int) { CHECK(draw(kernel, 400, false, 2) == expected); });
  }
}

std::atomic<int> polls{0};

TEST(a_poll_cancels_the_work_of_all_threads) {
  const Errors errors = make_errors(300, 200, 2);
  Kernel kernel(std::make_shared<Matrix>(errors.view()), options_for(200));
  const auto expected = draw(kernel, 50, true, 1);
  for (const int threads : {1, 4}) {
    polls = 0;
    set_poll([] { return ++polls == 2; });
    bool cancelled = false;
    try {
      draw(kernel, 5'000'000, false, threads);
    } catch (const Cancelled&) {
      cancelled = true;
    }
    set_poll(nullptr);
    CHECK(cancelled);
    CHECK(draw(kernel, 50, true, threads) == expected);
  }
}

TEST(the_first_exception_ends_all_parts) {
  std::atomic<int> ended{0};
  bool thrown = false;
  try {
    in_parallel(8, 1, 8, [&](std::int64_t begin, std::int64_t, Watch& watch) {
      if (begin == 3) throw std::runtime_error("third");
      struct Count {
        std::atomic<int>& n;
        ~Count() { ++n; }
      } count{ended};
      for (;;) watch.spend(1000);
    });
  } catch (const std::runtime_error& error) {
    thrown = std::string(error.what()) == "third";
  }
  CHECK(thrown);
  CHECK(ended <= 7);
}

TEST(a_value_is_built_once_and_again_after_a_failure) {
  Once<int> once;
  std::atomic<int> built{0};
  CHECK(once.peek() == nullptr);
  bool thrown = false;
  try {
    once.get([]() -> int { throw std::runtime_error("no"); });
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  CHECK(thrown);
  at_once(6, [&](int) {
    CHECK_EQUAL(once.get([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return ++built;
    }),
                1);
  });
  CHECK_EQUAL(*once.peek(), 1);
}

TEST(waiting_for_a_value_can_be_cancelled) {
  Once<int> once;
  std::atomic<bool> building{false};
  std::atomic<bool> go_on{false};
  std::thread builder([&] {
    once.get([&] {
      building = true;
      while (!go_on) std::this_thread::yield();
      return 7;
    });
  });
  while (!building) std::this_thread::yield();
  set_poll([] { return true; });
  bool cancelled = false;
  try {
    once.get([] { return 8; });
  } catch (const Cancelled&) {
    cancelled = true;
  }
  set_poll(nullptr);
  go_on = true;
  builder.join();
  CHECK(cancelled);
  CHECK_EQUAL(once.get([] { return 9; }), 7);
}

TEST(tournaments_on_several_threads_share_their_scores) {
  std::vector<double> scores(50);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(i * 7 % 50);
  const auto run = [&](int threads) {
    std::vector<std::int64_t> indices(3000);
    draw_tournaments({scores.data(), 1, 50, 3}, {{1, 2}, 0, 1, indices.data()}, 3000, threads);
    return indices;
  };
  const auto expected = run(1);
  at_once(3, [&](int k) { CHECK(run(k + 1) == expected); });
}

TEST(programs_are_shared_by_the_threads_that_run_them) {
  const auto variation = push::fuzz::every_operator();
  const auto population = push::random_population(*variation.source, 200, 30, {1, 2}, 4);
  const auto programs = push::translate(*population, 1200, 4);
  const auto expected = push::fuzz::evaluated(*programs, 1);
  at_once(3, [&](int k) { CHECK(push::fuzz::evaluated(*programs, k + 2) == expected); });
}

TEST(parents_are_shared_by_the_threads_that_breed) {
  const auto variation = push::fuzz::every_operator();
  const auto parents = push::random_population(*variation.source, push::fuzz::kSize, 30, {1, 2}, 1);
  const auto expected = push::to_bytes(*push::fuzz::next(variation, *parents, {3, 4}, 1));
  at_once(3, [&](int k) { CHECK(push::to_bytes(*push::fuzz::next(variation, *parents, {3, 4}, k + 1)) == expected); });
}

}  // namespace

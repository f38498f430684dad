// Memory and threads that cannot be had: every call gives the right result or throws, whichever request fails.

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "flexicase/baselines.hpp"
#include "flexicase/kernel.hpp"
#include "flexicase/probabilities.hpp"
#include "fuzz_populations.hpp"
#include "testing.hpp"

namespace {

std::atomic<long> allocations_left{-1};  // the request for memory that fails when this comes to 0; none below 0
std::atomic<long> threads_left{-1};
std::atomic<long> threads_running{0};

bool fails(std::atomic<long>& left) { return left.load() >= 0 && left.fetch_sub(1) == 0; }

}  // namespace

void* operator new(std::size_t size) {
  if (fails(allocations_left)) throw std::bad_alloc();
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept try {
  return operator new(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* arg) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (fails(threads_left)) return EAGAIN;
  const int failed = create(thread, attributes, start, arg);
  if (failed == 0) ++threads_running;
  return failed;
}

extern "C" int pthread_join(pthread_t thread, void** value) {
  using Join = int (*)(pthread_t, void**);
  static const auto join = reinterpret_cast<Join>(dlsym(RTLD_NEXT, "pthread_join"));
  --threads_running;
  return join(thread, value);
}

namespace {

using namespace flexicase;

// Runs a call again and again, each time with a later request failing, until none fails.
template <class Call>
void fail_at_every_request(std::atomic<long>& left, Call&& call) {
  const auto expected = call();
  for (long k = 0;; ++k) {
    CHECK(k < 20000);
    bool right = true;
    left = k;
    try {
      const auto found = call();
      const bool met = left < 0;
      left = -1;
      right = found == expected;
      CHECK(right);
      CHECK_EQUAL(threads_running.load(), 0);
      if (!met) return;
    } catch (const std::bad_alloc&) {
      left = -1;
      CHECK_EQUAL(threads_running.load(), 0);
    }
  }
}

std::vector<double> make_errors(std::size_t n) {
  Stream stream{5};
  std::vector<double> errors(n);
  for (double& error : errors) error = static_cast<double>(stream.bounded(3));
  return errors;
}

template <class Call>
void fail_everywhere(Call&& call) {
  fail_at_every_request(allocations_left, call);
  fail_at_every_request(threads_left, call);
}

TEST(draws_survive_every_failure) {
  const std::vector<double> errors = make_errors(40 * 30);
  for (const Tolerance tolerance : {Tolerance::none, Tolerance::mad}) {
    fail_everywhere([&] {
      KernelOptions options;
      options.depth = 30;
      options.tolerance = tolerance;
      Kernel kernel(std::make_shared<Matrix>(MatrixView{errors.data(), DType::f64, 40, 30, 30, 1}), options);
      std::vector<std::int64_t> indices(200), evaluations(200), distinct(200), used(200);
      std::vector<std::uint8_t> ended(200);
      kernel.draw({{1, 2}, 0, 1, indices.data(), evaluations.data(), distinct.data(), used.data(), ended.data()}, 200,
                  6);
      return indices;
    });
  }
}

TEST(tournaments_and_aggregates_survive_every_failure) {
  const std::vector<double> errors = make_errors(40 * 30);
  fail_everywhere([&] {
    std::vector<std::int64_t> indices(2000);
    draw_tournaments({errors.data(), 30, 40, 3}, {{1, 2}, 0, 1, indices.data()}, 2000, 6);
    draw_aggregates({errors.data(), 30, 40, 5.0}, {{1, 2}, 0, 1, indices.data()}, 100, 6);
    return indices;
  });
}

TEST(probabilities_survive_every_failure) {
  const std::vector<double> errors = make_errors(12 * 8);
  fail_at_every_request(allocations_left, [&] {
    KernelOptions options;
    options.depth = 8;
    const Matrix matrix(MatrixView{errors.data(), DType::f64, 12, 8, 8, 1});
    return exact_probabilities(matrix, options, 0).probabilities;
  });
}

TEST(populations_survive_every_failure) {
  const auto variation = push::fuzz::every_operator();
  fail_everywhere([&] {
    const auto population = push::random_population(*variation.source, 160, 10, {1, 2}, 3);
    return push::fuzz::evaluated(*push::translate(*population, 1200, 3), 3);
  });
}

TEST(breeding_survives_every_failure) {
  const auto variation = push::fuzz::every_operator();
  const auto parents = push::random_population(*variation.source, push::fuzz::kSize, 20, {1, 2}, 1);
  fail_everywhere([&] { return push::to_bytes(*push::fuzz::next(variation, *parents, {3, 4}, 2)); });
}

}  // namespace

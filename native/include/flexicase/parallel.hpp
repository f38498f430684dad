// Events on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace flexicase {

// Calls work(begin, end) for parts of 0 … n-1, each on a thread of its own if it has enough to do.
template <class F>
void in_parallel(std::int64_t n, std::int64_t worth_a_thread, int threads, const F& work) {
  const std::int64_t workers = std::clamp<std::int64_t>(n / worth_a_thread, 1, std::max(threads, 1));
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < workers; ++t) {
    others.emplace_back([&, t] { work(n * t / workers, n * (t + 1) / workers); });
  }
  work(0, n / workers);
  for (std::thread& other : others) other.join();
}

}  // namespace flexicase

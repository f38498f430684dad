// Work that may take long: threads, exceptions and cancellation in one place.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace flexicase {

// Leaves work that was cancelled by the poll.
struct Cancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

// Asks whether to cancel. The thread that started the work calls it about every `poll_interval`; other
// threads never do. The default never cancels.
using Poll = bool (*)();
void set_poll(Poll poll);

inline constexpr std::chrono::milliseconds poll_interval{40};

// How one thread notices that its work is cancelled.
class Watch {
 public:
  // For work on the calling thread alone.
  Watch() = default;

  // Counts work done, in nanoseconds by rough estimate; throws Cancelled when the work must end. Call it at
  // least every 10 ms.
  [[gnu::always_inline]] void spend(std::int64_t cost) {
    if ((left_ -= cost) < 0) [[unlikely]] {
      look();
    }
  }

 private:
  friend class Parts;
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t quantum = std::int64_t{1} << 20;

  Watch(std::atomic<bool>* stop, bool polls) : stop_(stop), polls_(polls) {}
  void look();

  std::int64_t left_ = quantum;
  std::atomic<bool>* stop_ = nullptr;  // shared by the threads of one call
  bool polls_ = true;
  Clock::time_point polled_{};  // when the poll was asked last, or when the first quantum was spent
};

// Lets one thread at a time build something that others wait for.
class Turn {
 public:
  // Whether it is done; otherwise the caller must do it and then call `end`. Waits while another thread does it, and
  // throws Cancelled if that wait is cancelled. A signal handler that comes back to what its own thread is building
  // gets an exception.
  bool is_done();
  bool was_done() const { return done_.load(std::memory_order_acquire); }
  void end(bool done) noexcept;

 private:
  std::atomic<bool> done_{false};
  std::mutex lock_;
  std::condition_variable changed_;
  std::thread::id builder_;  // none if it is not being built
};

// A value that threads share: built when first asked for, by the thread that asks, and never changed afterwards. If
// building it throws, the next thread that asks builds it.
template <class T>
class Once {
 public:
  template <class Build>
  const T& get(Build&& build) {
    if (turn_.is_done()) return *value_;
    try {
      value_.emplace(build());
    } catch (...) {
      turn_.end(false);
      throw;
    }
    turn_.end(true);
    return *value_;
  }

  // The value if it has been built, else null.
  const T* peek() const { return turn_.was_done() ? &*value_ : nullptr; }

 private:
  Turn turn_;
  std::optional<T> value_;
};

// One part of the work: part(work, begin, end, watch).
using Part = void (*)(const void* work, std::int64_t begin, std::int64_t end, Watch& watch);

// As in_parallel, for a known number of parts.
void run_parts(std::int64_t n, std::int64_t parts, const void* work, Part part);

// Calls work(begin, end, watch) for parts of 0 … n-1, each on a thread of its own if it has at least
// `worth_a_thread` to do. The calling thread does the first part, and those for which there is no thread or no
// memory. The first exception of any part ends the others and is thrown here, when all have ended.
template <class F>
void in_parallel(std::int64_t n, std::int64_t worth_a_thread, int threads, const F& work) {
  const std::int64_t parts = std::clamp<std::int64_t>(n / worth_a_thread, 1, std::max(threads, 1));
  run_parts(n, parts, &work, [](const void* w, std::int64_t begin, std::int64_t end, Watch& watch) {
    (*static_cast<const F*>(w))(begin, end, watch);
  });
}

}  // namespace flexicase

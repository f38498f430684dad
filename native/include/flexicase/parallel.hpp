// Work that may take long: threads, exceptions and cancellation in one place.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

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

  // Counts work done, in nanoseconds by rough estimate; throws Cancelled when the work shall end. Call it at
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

// One part of the work: part(work, begin, end, watch).
using Part = void (*)(const void* work, std::int64_t begin, std::int64_t end, Watch& watch);

// As in_parallel, for a known number of parts.
void run_parts(std::int64_t n, std::int64_t parts, const void* work, Part part);

// Calls work(begin, end, watch) for parts of 0 … n-1, each on a thread of its own if it has at least
// `worth_a_thread` to do. The calling thread does the first part, and those for which no thread can be
// started. The first exception of any part ends the others and is thrown here, when all have ended.
template <class F>
void in_parallel(std::int64_t n, std::int64_t worth_a_thread, int threads, const F& work) {
  const std::int64_t parts = std::clamp<std::int64_t>(n / worth_a_thread, 1, std::max(threads, 1));
  run_parts(n, parts, &work, [](const void* w, std::int64_t begin, std::int64_t end, Watch& watch) {
    (*static_cast<const F*>(w))(begin, end, watch);
  });
}

}  // namespace flexicase

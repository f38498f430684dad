#include "flexicase/parallel.hpp"

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace flexicase {

namespace {

std::atomic<Poll> current_poll{nullptr};

// Whether a thread that has just started has the memory to throw exceptions: the system ends the process where it
// cannot give a thread the memory for that on the first occasion.
bool can_throw() noexcept {
  void* volatile room = std::malloc(std::size_t{1} << 16);
  std::free(room);
  return room != nullptr && std::uncaught_exceptions() >= 0;
}

bool is_cancelled() {
  const Poll poll = current_poll.load(std::memory_order_relaxed);
  return poll != nullptr && poll();
}

}  // namespace

void set_poll(Poll poll) { current_poll.store(poll, std::memory_order_relaxed); }

void Watch::look() {
  left_ = quantum;
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw Cancelled();
  if (!polls_) return;
  const Clock::time_point now = Clock::now();
  if (polled_ == Clock::time_point{}) polled_ = now;
  if (now - polled_ < poll_interval) return;
  const bool cancelled = is_cancelled();
  polled_ = Clock::now();
  if (cancelled) throw Cancelled();
}

bool Turn::is_done() {
  if (done_.load(std::memory_order_acquire)) return true;
  const std::thread::id me = std::this_thread::get_id();
  std::unique_lock guard(lock_);
  while (!done_.load(std::memory_order_relaxed) && builder_ != std::thread::id{}) {
    if (builder_ == me) throw std::runtime_error("a signal handler used an object that is still being prepared");
    const bool timeout = changed_.wait_for(guard, poll_interval) == std::cv_status::timeout;
    if (!timeout) continue;
    guard.unlock();
    if (is_cancelled()) throw Cancelled();
    guard.lock();
  }
  if (done_.load(std::memory_order_relaxed)) return true;
  builder_ = me;
  return false;
}

void Turn::end(bool done) noexcept {
  const std::lock_guard guard(lock_);
  builder_ = {};
  if (done) done_.store(true, std::memory_order_release);
  changed_.notify_all();
}

// The parts of one call. Its threads have ended when it has.
class Parts {
 public:
  Parts(std::int64_t n, std::int64_t parts, const void* work, Part part)
      : n_(n), parts_(parts), work_(work), part_(part) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  ~Parts() {
    for (std::thread& thread : threads_) thread.join();
  }

  void run() {
    threads_.reserve(static_cast<std::size_t>(parts_ - 1));
    left_.assign(static_cast<std::size_t>(parts_), 0);
    std::int64_t started = 1;
    try {
      for (; started < parts_; ++started) {
        threads_.emplace_back([this, p = started]() noexcept {
          const bool able = can_throw();
          if (able) {
            Watch watch(&stop_, false);
            attempt(p, watch);
          }
          const std::lock_guard guard(lock_);
          left_[static_cast<std::size_t>(p)] = !able;
          ++ended_;
          changed_.notify_one();
        });
      }
    } catch (const std::system_error&) {  // the system gives no more threads
    } catch (const std::bad_alloc&) {
    }
    Watch watch(&stop_, true);
    attempt(0, watch);
    for (std::int64_t p = started; p < parts_; ++p) attempt(p, watch);
    await(started - 1);
    for (std::int64_t p = 1; p < started; ++p) {
      if (left_[static_cast<std::size_t>(p)] != 0) attempt(p, watch);
    }
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  void attempt(std::int64_t p, Watch& watch) noexcept {
    if (stop_.load(std::memory_order_relaxed)) return;
    try {
      part_(work_, bound(p), bound(p + 1), watch);
    } catch (...) {
      fail(std::current_exception());
    }
  }

  std::int64_t bound(std::int64_t p) const { return n_ / parts_ * p + std::min(p, n_ % parts_); }

  // The exception that came first is the reason; what others throw because of it does not replace it.
  void fail(std::exception_ptr thrown) noexcept {
    const std::lock_guard guard(lock_);
    if (!thrown_) thrown_ = std::move(thrown);
    stop_ = true;
  }

  void await(std::int64_t started) {
    std::unique_lock guard(lock_);
    while (!changed_.wait_for(guard, poll_interval, [&] { return ended_ == started; })) {
      if (stop_) continue;
      guard.unlock();
      if (is_cancelled()) fail(std::make_exception_ptr(Cancelled()));
      guard.lock();
    }
  }

  const std::int64_t n_;
  const std::int64_t parts_;
  const void* const work_;
  const Part part_;
  std::atomic<bool> stop_{false};
  std::mutex lock_;
  std::condition_variable changed_;
  std::int64_t ended_ = 0;
  std::exception_ptr thrown_;
  std::vector<std::uint8_t> left_;  // (parts,) whether its thread could not do it
  std::vector<std::thread> threads_;
};

void run_parts(std::int64_t n, std::int64_t parts, const void* work, Part part) {
  if (parts > 1) return Parts(n, parts, work, part).run();
  Watch watch;
  part(work, 0, n, watch);
}

}  // namespace flexicase

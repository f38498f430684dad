// Python's global interpreter lock around native work.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

namespace flexicase {

// Lets other Python threads run until it goes out of scope.
//
// When the interpreter has ended, Python ends a daemon thread that asks for its lock (before Python 3.14, by unwinding
// its stack). Frames of C++ cannot be unwound that way without ending the process, so the thread stays here instead.
class WithoutGil {
 public:
  // `worth_it`: whether there is enough to do. To get the lock back takes 5 ms if another thread keeps busy.
  explicit WithoutGil(bool worth_it = true) : state_(worth_it ? PyEval_SaveThread() : nullptr) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  ~WithoutGil() {
    if (state_ == nullptr) return;
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace flexicase

// Python's global interpreter lock around native work, and calls of Python from it.
//
// Once the interpreter exits, Python ends a daemon thread that asks for the lock (before Python 3.14, by pthread_exit,
// which unwinds the stack). C++ frames must not be unwound like that, so these functions keep the thread forever.
// Native code uses nothing else to take the lock or to run Python code, except on the main thread.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace flexicase {

void restore_thread(PyThreadState* state);
PyGILState_STATE ensure_gil();
// As PyObject_Vectorcall, without keywords.
PyObject* call_python(PyObject* function, PyObject* const* arguments, std::size_t count);

// Lets other Python threads run until it goes out of scope.
class WithoutGil {
 public:
  // `worth_it`: whether there is enough to do. To get the lock back takes 5 ms if another thread keeps busy.
  explicit WithoutGil(bool worth_it = true) : state_(worth_it ? PyEval_SaveThread() : nullptr) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    if (state_ != nullptr) restore_thread(state_);
  }

 private:
  PyThreadState* state_;
};

// Holds the lock until it goes out of scope, also on a thread that Python does not know.
class WithGil {
 public:
  WithGil() : state_(ensure_gil()) {}
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace flexicase

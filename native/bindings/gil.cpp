// Compiled without exceptions: only then does glibc's pthread_cleanup_push jump straight to its handler. Otherwise it
// relies on the unwinder of the C++ library, which fails if that is not the unwinder of the C library (LLVM's
// libunwind).
#include <Python.h>
#include <pthread.h>
#include <unistd.h>

#include <cstddef>

namespace flexicase {

static void stay(void*) {
  for (;;) pause();
}

void restore_thread(PyThreadState* state) {
  pthread_cleanup_push(stay, nullptr);
  PyEval_RestoreThread(state);
  pthread_cleanup_pop(0);
}

PyGILState_STATE ensure_gil() {
  PyGILState_STATE volatile state;
  pthread_cleanup_push(stay, nullptr);
  state = PyGILState_Ensure();
  pthread_cleanup_pop(0);
  return state;
}

PyObject* call_python(PyObject* function, PyObject* const* arguments, std::size_t count) {
  PyObject* volatile returned;
  pthread_cleanup_push(stay, nullptr);
  returned = PyObject_Vectorcall(function, arguments, count, nullptr);
  pthread_cleanup_pop(0);
  return returned;
}

}  // namespace flexicase

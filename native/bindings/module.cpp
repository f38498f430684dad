#include <nanobind/nanobind.h>

#include <atomic>
#include <new>

#include "flexicase/parallel.hpp"
#include "flexicase/select.hpp"
#include "reserve.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_baselines(nb::module_& m);
void bind_select(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_fast(nb::module_& m);
void bind_gp(nb::module_& m);
void bind_push(nb::module_& m);
void bind_push_batch(nb::module_& m);
void bind_push_python(nb::module_& m);

// Handlers of signals run on the main thread alone, so others need not ask for them.
static std::atomic<unsigned long> main_thread{0};

static void note_main_thread() {
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

// Runs the handlers of signals that have arrived; whether one of them has raised.
static bool signal_raised() {
  if (PyThread_get_thread_ident() != main_thread) return false;
  const nb::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

NB_MODULE(_native, m) {
  m.doc() = "Native kernels of flexicase.";
  nb::set_leak_warnings(false);  // defaults of Python functions may outlive the module, which is no leak
  m.def("isa", [] { return flexicase::isa().name; }, "Name of the instruction set that the kernels use here.");
  note_main_thread();
  const nb::module_ os = nb::module_::import_("os");
  if (nb::hasattr(os, "register_at_fork")) {
    os.attr("register_at_fork")("after_in_child"_a = nb::cpp_function(note_main_thread));
  }
  flexicase::set_poll(signal_raised);
  flexicase::Reserve::fill();
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const flexicase::Cancelled&) {  // the handler's exception is set already
    } catch (const std::bad_alloc&) {
      flexicase::Reserve::fill();
      PyErr_SetString(PyExc_MemoryError, "out of memory");
    }
  });
  bind_select(m);
  bind_baselines(m);
  bind_exact(m);
  bind_fast(m);
  bind_push(m);
  bind_push_batch(m);
  bind_push_python(m);
  bind_gp(m);
}

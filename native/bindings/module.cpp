#include <nanobind/nanobind.h>

#include "flexicase/parallel.hpp"
#include "flexicase/select.hpp"

namespace nb = nanobind;

void bind_baselines(nb::module_& m);
void bind_select(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_fast(nb::module_& m);
void bind_gp(nb::module_& m);
void bind_push(nb::module_& m);
void bind_push_batch(nb::module_& m);
void bind_push_python(nb::module_& m);

// Runs the handlers of signals that have arrived; whether one of them has raised.
static bool signal_raised() {
  const nb::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

NB_MODULE(_native, m) {
  m.doc() = "Native kernels of flexicase.";
  nb::set_leak_warnings(false);  // defaults of Python functions may outlive the module, which is no leak
  m.def("isa", [] { return flexicase::isa().name; }, "Name of the instruction set that the kernels use here.");
  flexicase::set_poll(signal_raised);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const flexicase::Cancelled&) {  // the handler's exception is set already
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

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "flexicase/probabilities.hpp"
#include "gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase;

namespace {

using Probabilities = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

std::tuple<std::optional<Probabilities>, std::uint64_t, double> probabilities(const Kernel& kernel,
                                                                              std::uint64_t max_states) {
  ExactOutcome outcome;
  {
    const WithoutGil others_run;
    outcome = exact_probabilities(kernel.matrix(), kernel.options(), max_states);
  }
  std::optional<Probabilities> result;
  if (!outcome.probabilities.empty()) result = owned_array(std::move(outcome.probabilities));
  return {result, outcome.states, outcome.estimate};
}

}  // namespace

void bind_exact(nb::module_& m) {
  m.def("probabilities", &probabilities, "kernel"_a, "max_states"_a,
        "Exact selection probabilities (None if there are too many states), states met, states estimated.");
}

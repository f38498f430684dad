#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "flexicase/fast_run.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase;

namespace {

template <class T, int dimensions = 1>
using In = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
template <class T, int dimensions = 1>
using Out = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Indices = In<std::int64_t>;

template <class Array>
std::int64_t length(const Array& array, std::size_t axis = 0) {
  return static_cast<std::int64_t>(array.shape(axis));
}

nb::object as_array(const std::vector<std::int64_t>& values) {
  auto* copy = new std::int64_t[values.size()];
  std::copy(values.begin(), values.end(), copy);
  nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(copy, {values.size()}, owner));
}

// A run together with the arrays and the store that it works on.
struct Run {
  Out<double> weights;
  std::optional<In<double>> epsilon;
  Out<std::int64_t, 2> counts;
  Out<std::uint8_t> ended;
  FastRun run;
};

bool advance(Run& self) {
  constexpr std::int64_t patience = 4096;
  for (;;) {
    const FastRun::Status status = self.run.advance(patience);
    if (status != FastRun::Status::paused) return status == FastRun::Status::done;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

void bind_store(nb::module_& m) {
  nb::class_<PairStore>(m, "PairStore")
      .def(nb::init<std::int64_t, std::int64_t, std::uint64_t>(), "individuals"_a, "cases"_a, "most_bytes"_a)
      .def_prop_ro("pairs", &PairStore::pairs)
      .def_prop_ro("refused", &PairStore::refused)
      .def_prop_ro("nbytes", &PairStore::bytes)
      .def_prop_ro("is_matrix", &PairStore::is_matrix)
      .def(
          "lookup",
          [](const PairStore& self, const Indices& individuals, const Indices& cases,
             const Out<double, 2>& transposed) {
            for (std::int64_t j = 0; j < length(cases); ++j) {
              self.lookup(individuals.data(), length(individuals), cases(static_cast<std::size_t>(j)),
                          transposed.data() + j * length(individuals));
            }
          },
          "individuals"_a, "cases"_a, "transposed"_a)
      .def(
          "store",
          [](PairStore& self, const Indices& individuals, const Indices& cases, const In<double, 2>& errors) {
            for (std::size_t j = 0; j < cases.shape(0); ++j) {
              for (std::size_t i = 0; i < individuals.shape(0); ++i) self.store(individuals(i), cases(j), errors(i, j));
            }
          },
          "individuals"_a, "cases"_a, "errors"_a)
      .def("begin", &PairStore::begin)
      .def("commit", &PairStore::commit)
      .def("rollback", &PairStore::rollback);
}

void bind_run(nb::module_& m) {
  nb::class_<Run>(m, "FastRun")
      .def(
          "__init__",
          [](Run* self, PairStore& store, const Out<double>& weights, int order, int bias, double w_min, double w_max,
             const std::optional<In<double>>& epsilon, bool mad, std::int64_t lookahead, std::int64_t most_pairs,
             std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event, const Out<std::int64_t, 2>& counts,
             const Out<std::uint8_t>& ended) {
            FastPlan plan;
            plan.order = static_cast<OrderKind>(order);
            plan.rule = {static_cast<PoolBias>(bias), w_min, w_max, epsilon ? epsilon->data() : nullptr, mad};
            plan.weights = weights.data();
            plan.cases = length(weights);
            plan.lookahead = lookahead;
            plan.most_pairs = most_pairs;
            plan.key = {k0, k1};
            plan.first_event = first_event;
            plan.events = length(ended);
            plan.counts = counts.data();
            plan.ended = ended.data();
            new (self) Run{weights, epsilon, counts, ended, FastRun(plan, store)};
          },
          nb::keep_alive<1, 2>(), "store"_a, "weights"_a, "order"_a, "bias"_a, "w_min"_a, "w_max"_a, "epsilon"_a.none(),
          "mad"_a, "lookahead"_a, "most_pairs"_a, "k0"_a, "k1"_a, "first_event"_a, "counts"_a, "ended"_a)
      .def("advance", &advance)
      .def("request",
           [](const Run& self) { return nb::make_tuple(as_array(self.run.individuals()), as_array(self.run.cases())); })
      .def(
          "give",
          [](Run& self, const In<double, 2>& errors) {
            if (errors.shape(0) != self.run.individuals().size() || errors.shape(1) != self.run.cases().size()) {
              throw nb::value_error("errors must have one row per individual and one column per case asked for");
            }
            self.run.give(errors.data());
          },
          "errors"_a);
}

}  // namespace

void bind_fast(nb::module_& m) {
  bind_store(m);
  bind_run(m);
  m.def(
      "first_nan",
      [](const In<double, 2>& errors) -> std::int64_t {
        const double* data = errors.data();
        for (std::size_t k = 0; k < errors.size(); ++k) {
          if (data[k] != data[k]) return static_cast<std::int64_t>(k);
        }
        return -1;
      },
      "errors"_a, "Position of the first entry that is not a number, or -1.");
}

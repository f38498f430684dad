#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "arrays.hpp"
#include "flexicase/kernel.hpp"
#include "gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase;

namespace {

// Keeps the array alive beside what is derived from it.
struct BoundMatrix : Matrix {
  BoundMatrix(const MatrixView& view, AnyMatrix a) : Matrix(view), array(std::move(a)) {}
  AnyMatrix array;
};

// Whether a look at every entry takes long enough for other Python threads to run meanwhile.
bool is_large(const MatrixView& m) { return m.rows * m.cols >= std::int64_t{1} << 15; }

// What f(matrix) returns, found while other Python threads run.
template <class F>
auto without_gil(const BoundMatrix& matrix, F&& f) {
  const WithoutGil others_run(is_large(matrix.original()));
  return f(matrix);
}

std::vector<double> to_vector(const std::optional<In<double>>& array) {
  if (!array) return {};
  return {array->data(), array->data() + array->size()};
}

using ResultBlock = Out<std::int64_t, 2>;

// One row of the block per result: indices, and with counts three more; why events ended is elsewhere.
Request request_for(Key key, std::uint64_t first_event, std::uint64_t event_step, const ResultBlock& block,
                    const Out<std::uint8_t>& ended) {
  const std::int64_t n = length(block, 1);
  std::int64_t* rows = block.data();
  Request request{key, first_event, event_step, rows};
  if (block.shape(0) == 4) {
    request.evaluations = rows + n;
    request.evaluations_distinct = rows + 2 * n;
    request.cases_used = rows + 3 * n;
    request.ended = ended.data();
  }
  return request;
}

}  // namespace

void bind_select(nb::module_& m) {
  nb::class_<BoundMatrix>(m, "Matrix", "An error matrix (individuals × cases) ready for selection.")
      .def(
          "__init__",
          [](BoundMatrix* self, const AnyMatrix& a) {
            const MatrixView view = view_of(a);
            AnyMatrix kept = a;
            const WithoutGil others_run(is_large(view));
            new (self) BoundMatrix(view, std::move(kept));
          },
          "errors"_a)
      .def(
          "bad_entry", [](const BoundMatrix& self) { return without_gil(self, [](auto& m) { return m.bad_entry(); }); },
          "Row and column of the first NaN, or None.")
      .def(
          "inexact_entry",
          [](const BoundMatrix& self) { return without_gil(self, [](auto& m) { return m.inexact_entry(); }); },
          "Row and column of the first entry that is not exactly a float64, or None.")
      .def("memory", &BoundMatrix::memory, "Bytes held beyond the matrix itself.")
      .def(
          "zeros",
          [](const BoundMatrix& self) { return owned_array(without_gil(self, [](auto& m) { return m.zeros(); })); },
          "(cases,) exact zeros per case.")
      .def(
          "groups",
          [](const BoundMatrix& self) {
            {
              const WithoutGil others_run;  // another thread may be finding them, and ask for the lock meanwhile
              self.unique_rows();
            }
            return owned_array(std::vector<std::int64_t>(self.unique_rows().begin(), self.unique_rows().end()));
          },
          "(individuals,) the first individual with the same errors.");

  nb::class_<Kernel>(m, "Kernel", "A prepared selection.")
      .def(
          "__init__",
          [](Kernel* self, std::shared_ptr<BoundMatrix> matrix, const std::optional<In<double>>& weights, bool ranked,
             int tolerance, const std::optional<In<double>>& epsilon, std::int64_t batch, std::int64_t depth,
             bool random_depth, double slippage) {
            KernelOptions options{to_vector(weights), ranked,  static_cast<Tolerance>(tolerance),
                                  to_vector(epsilon), batch,   depth,
                                  random_depth,       slippage};
            const WithoutGil others_run(is_large(matrix->original()));
            new (self) Kernel(std::move(matrix), std::move(options));
          },
          "matrix"_a, "weights"_a.none(), "ranked"_a, "tolerance"_a, "epsilon"_a.none(), "batch"_a, "depth"_a,
          "random_depth"_a, "slippage"_a)
      .def(
          "draw",
          [](Kernel& self, std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event, std::uint64_t event_step,
             int threads, const ResultBlock& block, const Out<std::uint8_t>& ended) {
            const Request request = request_for({k0, k1}, first_event, event_step, block, ended);
            const WithoutGil others_run;
            self.draw(request, length(block, 1), threads);
          },
          "k0"_a, "k1"_a, "first_event"_a, "event_step"_a, "threads"_a, "block"_a, "ended"_a)
      .def(
          "draw_distinct",
          [](Kernel& self, std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event, std::uint64_t event_step,
             const Out<std::uint8_t>& taken, const ResultBlock& block, const Out<std::uint8_t>& ended) {
            const std::uint8_t* end = taken.data() + taken.size();
            if (length(taken, 0) != self.matrix().original().rows ||
                std::count(static_cast<const std::uint8_t*>(taken.data()), end, 0) < length(block, 1)) {
              throw nb::value_error("taken must leave an individual for every event");
            }
            Request request = request_for({k0, k1}, first_event, event_step, block, ended);
            request.taken = taken.data();
            const WithoutGil others_run;
            self.draw(request, length(block, 1), 1);
          },
          "k0"_a, "k1"_a, "first_event"_a, "event_step"_a, "taken"_a, "block"_a, "ended"_a);
}

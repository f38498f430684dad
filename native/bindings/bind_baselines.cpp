#include <nanobind/nanobind.h>

#include <cstdint>

#include "arrays.hpp"
#include "flexicase/baselines.hpp"
#include "gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase;

namespace {

using Indices = Out<std::int64_t>;

Request request_for(std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event, std::uint64_t event_step,
                    const Indices& indices) {
  return {{k0, k1}, first_event, event_step, indices.data()};
}

}  // namespace

void bind_baselines(nb::module_& m) {
  m.def(
      "batch_sums",
      [](const AnyMatrix& errors, const In<std::int64_t>& cases, const In<std::int64_t>& starts,
         const Out<double, 2>& sums) {
        const MatrixView view = view_of(errors);
        const WithoutGil others_run;
        batch_sums(view, cases.data(), starts.data(), length(starts) - 1, sums.data());
      },
      "errors"_a.noconvert(), "cases"_a, "starts"_a, "sums"_a);
  m.def(
      "elite_shares",
      [](const AnyMatrix& errors, const In<std::int64_t>& unique_rows, const Out<double>& shares) {
        const MatrixView view = view_of(errors);
        const WithoutGil others_run;
        elite_shares(view, unique_rows.data(), length(unique_rows), shares.data());
      },
      "errors"_a.noconvert(), "kinds"_a, "shares"_a);
  m.def(
      "draw_tournaments",
      [](const In<double, 2>& scores, std::int64_t size, std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event,
         std::uint64_t event_step, int threads, const Indices& indices) {
        const WithoutGil others_run;
        draw_tournaments({scores.data(), length(scores), length(scores, 1), size},
                         request_for(k0, k1, first_event, event_step, indices), length(indices), threads);
      },
      "scores"_a, "size"_a, "k0"_a, "k1"_a, "first_event"_a, "event_step"_a, "threads"_a, "indices"_a);
  m.def(
      "draw_wheel",
      [](const In<double>& wheel, std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event,
         std::uint64_t event_step, int threads, const Indices& indices) {
        const WithoutGil others_run;
        draw_wheel(wheel.data(), length(wheel), request_for(k0, k1, first_event, event_step, indices), length(indices),
                   threads);
      },
      "wheel"_a, "k0"_a, "k1"_a, "first_event"_a, "event_step"_a, "threads"_a, "indices"_a);
  m.def(
      "draw_aggregates",
      [](const In<double, 2>& columns, double std, std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event,
         std::uint64_t event_step, int threads, const Indices& indices) {
        const WithoutGil others_run;
        draw_aggregates({columns.data(), length(columns), length(columns, 1), std},
                        request_for(k0, k1, first_event, event_step, indices), length(indices), threads);
      },
      "columns"_a, "std"_a, "k0"_a, "k1"_a, "first_event"_a, "event_step"_a, "threads"_a, "indices"_a);
  m.def(
      "farthest_first",
      [](const In<std::uint8_t, 2>& solved, std::uint64_t state, const Indices& chosen) {
        const WithoutGil others_run;
        farthest_first(solved.data(), length(solved), length(solved, 1), {state}, length(chosen), chosen.data());
      },
      "solved"_a, "state"_a, "chosen"_a);
}

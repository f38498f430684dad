#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "flexicase/baselines.hpp"
#include "gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase;

namespace {

template <class T, int dimensions>
using In = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
template <class T, int dimensions = 1>
using Out = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Indices = Out<std::int64_t>;

Request request_for(std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event, std::uint64_t event_step,
                    const Indices& indices) {
  return {{k0, k1}, first_event, event_step, indices.data()};
}

template <class Array>
std::int64_t length(const Array& array, std::size_t axis = 0) {
  return static_cast<std::int64_t>(array.shape(axis));
}

template <class T>
void bind_for_type(nb::module_& m) {
  using Errors = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
  const auto table = [](const Errors& a) {
    return Table<T>{a.data(), length(a), length(a, 1), a.stride(0), a.stride(1)};
  };
  m.def(
      "batch_sums",
      [table](const Errors& errors, const In<std::int64_t, 1>& cases, const In<std::int64_t, 1>& starts,
              const Out<double, 2>& sums) {
        const WithoutGil others_run;
        batch_sums(table(errors), cases.data(), starts.data(), length(starts) - 1, sums.data());
      },
      "errors"_a.noconvert(), "cases"_a, "starts"_a, "sums"_a);
  m.def(
      "elite_shares",
      [table](const Errors& errors, const In<std::int64_t, 1>& kinds, const Out<double>& shares) {
        const WithoutGil others_run;
        elite_shares(table(errors), kinds.data(), length(kinds), shares.data());
      },
      "errors"_a.noconvert(), "kinds"_a, "shares"_a);
}

template <class... Types>
void bind_for_types(nb::module_& m) {
  (bind_for_type<Types>(m), ...);
}

}  // namespace

void bind_baselines(nb::module_& m) {
  bind_for_types<bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                 std::uint64_t, std::int64_t, float, double>(m);
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
      [](const In<double, 1>& wheel, std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event,
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

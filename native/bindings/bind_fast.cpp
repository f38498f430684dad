#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "fast_blocks.hpp"
#include "flexicase/fast_run.hpp"
#include "flexicase/parallel.hpp"
#include "gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase;

namespace {

using Indices = In<std::int64_t>;

// A run between calls, with the working memory of the last one.
struct Runs {
  FastPlan plan;
  std::optional<In<double>> epsilon;
  std::optional<In<double>> solved;
  IndexArrayPool room;
  std::unique_ptr<FastRun> spare;
  std::int64_t calls_done = 0;
};

template <class... Arguments>
nb::object call(const nb::callable& function, const Arguments&... arguments) {
  PyObject* const given[] = {arguments.ptr()...};
  PyObject* returned = call_python(function.ptr(), given, sizeof...(arguments));
  if (returned == nullptr) nb::raise_python_error();
  return nb::steal(returned);
}

// Asks the evaluator for what the run needs. What it may do to the index arrays does not matter:
// they are copies.
class Question {
 public:
  Question(const nb::callable& evaluate, const nb::callable& checked, const nb::callable& failed)
      : evaluate_(evaluate), checked_(checked), failed_(failed) {}

  void ask(FastRun& run, IndexArrayPool& room) {
    const nb::object found = answer(run, room);
    const auto rows = static_cast<std::int64_t>(run.individuals().size());
    const auto columns = static_cast<std::int64_t>(run.cases().size());
    if (plain_.read(found.ptr(), rows, columns)) {
      run.provide_errors(plain_.data());
    } else {
      const nb::object block = call(checked_, found, room.copy(run.individuals()), room.copy(run.cases()));
      run.provide_errors(nb::cast<In<double, 2>>(block).data());
    }
    plain_.release();
  }

 private:
  nb::object answer(const FastRun& run, IndexArrayPool& room) {
    const nb::object individuals = room.copy(run.individuals());
    const nb::object cases = room.copy(run.cases());
    try {
      return call(evaluate_, individuals, cases);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
      if (error.traceback().is_valid()) PyException_SetTraceback(error.value().ptr(), error.traceback().ptr());
      call(failed_, error.value(), room.copy(run.individuals()), room.copy(run.cases()));
      throw;
    }
  }

  const nb::callable& evaluate_;
  const nb::callable& checked_;
  const nb::callable& failed_;
  BlockReader plain_;
};

// Most evaluators are asked again so soon that other Python threads need not run meanwhile.
FastRun::Status advance(FastRun& run) {
  constexpr std::int64_t budget = 2'000'000;
  FastRun::Status status = run.advance(budget);
  if (status != FastRun::Status::paused) return status;
  const WithoutGil others_run;
  Watch watch;
  do {
    watch.spend(budget);
    status = run.advance(budget);
  } while (status == FastRun::Status::paused);
  return status;
}

// Lets other Python threads run every 10 ms, also if the evaluator never does.
class Yielding {
 public:
  void yield() {
    if (Clock::now() - yielded_ < std::chrono::milliseconds(10)) return;
    {
      const WithoutGil others_run;
    }
    yielded_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point yielded_ = Clock::now();
};

void run_events(FastRun& run, IndexArrayPool& room, Question& question) {
  Yielding others;
  while (advance(run) == FastRun::Status::needs_errors) {
    question.ask(run, room);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    others.yield();
  }
}

void bind_cache(nb::module_& m) {
  nb::class_<ErrorCache>(m, "PairStore")
      .def(nb::init<std::int64_t, std::int64_t, std::uint64_t>(), "individuals"_a, "cases"_a, "most_bytes"_a)
      .def_prop_ro("pairs", &ErrorCache::pairs)
      .def_prop_ro("refused", &ErrorCache::refused)
      .def_prop_ro("nbytes", &ErrorCache::bytes)
      .def_prop_ro("is_matrix", &ErrorCache::is_matrix)
      .def(
          "lookup",
          [](const ErrorCache& self, const Indices& individuals, const Indices& cases,
             const Out<double, 2>& transposed) {
            for (std::int64_t j = 0; j < length(cases); ++j) {
              self.lookup(individuals.data(), length(individuals), cases(static_cast<std::size_t>(j)),
                          transposed.data() + j * length(individuals));
            }
          },
          "individuals"_a, "cases"_a, "transposed"_a)
      .def(
          "store",
          [](ErrorCache& self, const Indices& individuals, const Indices& cases, const In<double, 2>& errors) {
            const std::vector<std::int64_t> rows(individuals.data(), individuals.data() + individuals.size());
            for (std::int64_t j = 0; j < length(cases); ++j) {
              self.store(rows, cases(static_cast<std::size_t>(j)), errors.data() + j, length(cases));
            }
          },
          "individuals"_a, "cases"_a, "errors"_a)
      .def("clear", &ErrorCache::clear)
      .def("begin", &ErrorCache::begin)
      .def("commit", &ErrorCache::commit)
      .def("rollback", &ErrorCache::rollback);
}

void bind_run(nb::module_& m) {
  nb::class_<Runs>(m, "FastRun")
      .def(
          "__init__",
          [](Runs* self, std::int64_t n_cases, int order, int bias, double w_min,
             const std::optional<In<double>>& epsilon, bool mad, const std::optional<In<double>>& solved, bool maximize,
             std::int64_t lookahead, std::int64_t least_block, std::int64_t most_pairs, std::int64_t depth,
             bool random_depth) {
            FastPlan plan;
            plan.order = static_cast<OrderKind>(order);
            plan.rule = {static_cast<PoolBias>(bias),       w_min,   w_min, epsilon ? epsilon->data() : nullptr, mad,
                         solved ? solved->data() : nullptr, maximize};
            plan.cases = n_cases;
            plan.lookahead = lookahead;
            plan.least_block = least_block;
            plan.most_pairs = most_pairs;
            plan.depth = depth;
            plan.random_depth = random_depth;
            new (self) Runs{plan, epsilon, solved, {}, nullptr, 0};
          },
          "n_cases"_a, "order"_a, "bias"_a, "w_min"_a, "epsilon"_a.none(), "mad"_a, "solved"_a.none(), "maximize"_a,
          "lookahead"_a, "least_block"_a, "most_pairs"_a, "depth"_a, "random_depth"_a)
      .def(
          "select",
          [](Runs& self, ErrorCache& cache, const Out<double>& weights, std::uint64_t version, double w_max,
             std::uint64_t k0, std::uint64_t k1, std::uint64_t first_event, const Out<std::int64_t, 2>& counts,
             const Out<std::uint8_t>& ended, const nb::callable& evaluate, const nb::callable& checked,
             const nb::callable& failed) {
            const std::size_t most_spare_bytes = (std::size_t{1} << 22) + 64 * weights.size();
            // An evaluator may select with the same selector: a run belongs to one call at a time, and
            // the weights are in the end those of the call that ends last.
            const std::int64_t calls_done = self.calls_done;
            std::unique_ptr<FastRun> run = std::move(self.spare);
            if (!run) run = std::make_unique<FastRun>(self.plan);
            run->start({&cache,
                        weights.data(),
                        version,
                        w_max,
                        {k0, k1},
                        first_event,
                        length(ended),
                        counts.data(),
                        ended.data()});
            Question question(evaluate, checked, failed);
            run_events(*run, self.room, question);
            const std::uint64_t renewed = run->finish(self.calls_done++ != calls_done);
            self.spare = run->bytes() <= most_spare_bytes ? std::move(run) : nullptr;
            return renewed;
          },
          "store"_a, "weights"_a, "version"_a, "w_max"_a, "k0"_a, "k1"_a, "first_event"_a, "counts"_a, "ended"_a,
          "evaluate"_a, "checked"_a, "failed"_a);
}

}  // namespace

void bind_fast(nb::module_& m) {
  bind_cache(m);
  bind_run(m);
}

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "push/batch.hpp"
#include "push_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase::push;

namespace {

using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Errors = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr const char* kMeasures[] = {"mismatch", "absolute", "rounded", "levenshtein", "vector_difference"};

int stack_number(const std::string& name) {
  if (name == "output") return kStacks;
  const auto* found = std::find(std::begin(kStackNames), std::end(kStackNames), name);
  if (found == std::end(kStackNames)) throw nb::value_error(("no stack is named " + name).c_str());
  return static_cast<int>(found - kStackNames);
}

// A measure reads the memory of an answer, so that answers must be of the kind it is made for.
void check_kinds(const Question& question, const Cases& cases) {
  const bool numbers = question.stack == kInteger || question.stack == kFloat;
  const bool number_vectors = question.stack == kVectorInteger || question.stack == kVectorFloat;
  const bool sequences = question.stack == kStacks || question.stack == kString || question.stack >= kVectorInteger;
  const bool by_number = question.measure == Measure::absolute || question.measure == Measure::rounded;
  if ((by_number && !numbers) || (question.measure == Measure::levenshtein && !sequences) ||
      (question.measure == Measure::vector_difference && !number_vectors)) {
    throw nb::value_error("this error cannot be measured on that stack");
  }
  for (const Item& expected : cases.expected) {
    const bool is_number = expected.kind == Kind::integer || expected.kind == Kind::real;
    const bool fits =
        question.measure == Measure::vector_difference
            ? expected.kind == Kind::vector &&
                  (!expected.length || expected.items[0].kind == Kind::integer || expected.items[0].kind == Kind::real)
            : !by_number || is_number;
    if (!fits) throw nb::value_error("expected outputs must be of the kind that the error is measured on");
  }
}

Question question(const std::string& stack, const std::string& error, double penalty, double scale) {
  const auto* found = std::find(std::begin(kMeasures), std::end(kMeasures), error);
  if (found == std::end(kMeasures)) throw nb::value_error(("no error is named " + error).c_str());
  return {stack_number(stack), static_cast<Measure>(found - kMeasures), penalty, scale};
}

std::shared_ptr<Cases> make_cases(nb::list inputs, nb::list expected) {
  auto cases = std::make_shared<Cases>();
  if (inputs.size() != expected.size()) throw nb::value_error("as many expected outputs as inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& items = cases->inputs.emplace_back();
    for (nb::handle value : inputs[i]) items.push_back(push_values::from_python(value, cases->arena));
    cases->expected.push_back(push_values::from_python(expected[i], cases->arena));
  }
  return cases;
}

void check_indices(const Indices& indices, std::size_t size, const char* name) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t index = indices.data()[i];
    if (index < 0 || index >= static_cast<std::int64_t>(size)) {
      throw nb::index_error((std::string(name) + ": no index " + std::to_string(index)).c_str());
    }
  }
}

// The pairs' failures in order: how many there were, and the first of them as (pair, exception).
nb::tuple failures_to_python(Failures& failures) {
  nb::list first;
  for (auto& [pair, failure] : failures.first) {
    first.append(nb::make_tuple(pair, push_values::error_to_python(std::move(failure))));
  }
  return nb::make_tuple(failures.count, first);
}

nb::tuple errors(nb::list programs, const Cases& cases, Indices individuals, Indices case_indices, const Limits& limits,
                 const Question& asked, int threads, Errors out) {
  std::vector<Item> items;
  for (nb::handle program : programs) items.push_back(nb::cast<const Code&>(program).item);
  if (individuals.size() != case_indices.size() || out.size() != individuals.size()) {
    throw nb::value_error("individuals, cases and out must be of one length");
  }
  check_indices(individuals, items.size(), "individuals");
  check_indices(case_indices, cases.inputs.size(), "cases");
  check_kinds(asked, cases);
  const Pairs pairs{individuals.data(), case_indices.data(), static_cast<std::int64_t>(individuals.size())};
  Failures failures;
  std::int64_t steps = 0;
  {
    const nb::gil_scoped_release released;
    steps = evaluate(items, cases, pairs, limits, asked, threads, out.data(), failures);
  }
  return nb::make_tuple(steps, failures_to_python(failures));
}

nb::tuple outputs(const Code& program, const Cases& cases, const std::string& stack, const Limits& limits) {
  Question asked;
  asked.stack = stack_number(stack);
  Machine m;
  nb::list answers;
  Failures failures;
  for (std::size_t i = 0; i < cases.inputs.size(); ++i) {
    if (run_case(m, program.item, cases, i, limits) == Status::foreign_error) {
      failures.add(static_cast<std::int64_t>(i), std::exchange(m.failure, nullptr));
    }
    Item place;
    const Item* found = answer(m, asked, place);
    answers.append(found ? push_values::to_python(*found) : nb::none());
  }
  return nb::make_tuple(answers, failures_to_python(failures));
}

}  // namespace

void bind_push_batch(nb::module_& m) {
  nb::class_<Cases>(m, "PushCases").def("__len__", [](const Cases& self) { return self.inputs.size(); });
  nb::class_<Question>(m, "PushQuestion")
      .def(
          "__init__",
          [](Question* self, const std::string& stack, const std::string& error, double penalty, double scale) {
            new (self) Question(question(stack, error, penalty, scale));
          },
          "stack"_a, "error"_a, "penalty"_a, "scale"_a);
  m.def("push_cases", &make_cases, "inputs"_a, "expected"_a);
  m.def("push_errors", &errors, "programs"_a, "cases"_a, "individuals"_a, "case_indices"_a, "limits"_a, "question"_a,
        "threads"_a, "out"_a.noconvert());
  m.def("push_outputs", &outputs, "program"_a, "cases"_a, "stack"_a, "limits"_a);
}

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "gil.hpp"
#include "push/batch.hpp"
#include "push/population.hpp"
#include "push_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase::push;

namespace {

using Indices = flexicase::In<std::int64_t>;
using Errors = flexicase::Out<double>;

int stack_number(const std::string& name) {
  if (name == "output") return kStacks;
  if (const auto* slot = std::find(std::begin(kSlotNames), std::end(kSlotNames), name); slot != std::end(kSlotNames)) {
    return kStacks + 1 + static_cast<int>(slot - kSlotNames);
  }
  const auto* found = std::find(std::begin(kStackNames), std::end(kStackNames), name);
  if (found == std::end(kStackNames)) throw nb::value_error(("no stack is named " + name).c_str());
  return static_cast<int>(found - kStackNames);
}

// A measure reads the memory of an answer, so that answers and targets must be of the kind it is made for.
void check_kinds(const std::vector<Question>& questions, const Cases& cases) {
  if (cases.targets.size() != cases.inputs.size() * questions.size()) {
    throw nb::value_error("each case must have one target for each question");
  }
  for (const Question& asked : questions) {
    if (fits_stack(asked)) continue;
    const char* stack = asked.stack >= kStacks ? "output" : kStackNames[asked.stack];
    const std::string error = kMeasureNames[static_cast<std::size_t>(asked.measure)];
    throw nb::value_error(("the error '" + error + "' cannot be measured on the stack '" + stack + "'").c_str());
  }
  for (std::size_t i = 0; i < cases.targets.size(); ++i) {
    const Measure measure = questions[i % questions.size()].measure;
    if (fits_target(measure, cases.targets[i])) continue;
    const push_values::Place place{"expected", static_cast<std::int64_t>(i / questions.size())};
    const std::string error = kMeasureNames[static_cast<std::size_t>(measure)];
    throw nb::value_error((place.text() + " must be " + expected(measure) + " for the error '" + error + "'").c_str());
  }
}

Question question(const std::string& stack, const std::string& error, double penalty, double per_element, int decimals,
                  const std::u16string& label) {
  const auto* found = std::find(std::begin(kMeasureNames), std::end(kMeasureNames), error);
  if (found == std::end(kMeasureNames)) throw nb::value_error(("no error is named " + error).c_str());
  const auto measure = static_cast<Measure>(found - kMeasureNames);
  return {stack_number(stack), measure, penalty, per_element, std::clamp(decimals, 0, 15), label};
}

std::vector<Question> questions_of(const nb::list& list) {
  std::vector<Question> questions;
  for (nb::handle asked : list) questions.push_back(nb::cast<const Question&>(asked));
  return questions;
}

std::vector<Item> items_of(const nb::list& programs) {
  std::vector<Item> items;
  for (nb::handle program : programs) items.push_back(nb::cast<const Code&>(program).item);
  return items;
}

std::shared_ptr<Cases> make_cases(nb::list inputs, nb::list targets, bool has_output) {
  auto cases = std::make_shared<Cases>();
  cases->has_output = has_output;
  if (inputs.size() != targets.size()) throw nb::value_error("as many targets as inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& items = cases->inputs.emplace_back();
    push_values::Place place{"inputs", static_cast<std::int64_t>(i), 0};
    for (nb::handle value : nb::cast<nb::list>(inputs[i])) {
      items.push_back(push_values::from_python(value, cases->arena, place));
      ++place.j;
    }
    place = {"expected", static_cast<std::int64_t>(i)};
    for (nb::handle value : nb::cast<nb::list>(targets[i])) {
      cases->targets.push_back(push_values::from_python(value, cases->arena, place));
    }
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

Pairs pairs_of(const std::vector<Item>& programs, const Cases& cases, const Indices& individuals,
               const Indices& case_indices, std::size_t questions, const Errors& out) {
  if (individuals.size() != case_indices.size() || out.size() != individuals.size() * questions) {
    throw nb::value_error("individuals, cases and out must be of one length");
  }
  check_indices(individuals, programs.size(), "individuals");
  check_indices(case_indices, cases.inputs.size(), "cases");
  return {individuals.data(), case_indices.data(), static_cast<std::int64_t>(individuals.size())};
}

nb::tuple errors(nb::list programs, const Cases& cases, Indices individuals, Indices case_indices, const Limits& limits,
                 nb::list asked, int threads, Errors out) {
  const std::vector<Item> items = items_of(programs);
  const std::vector<Question> questions = questions_of(asked);
  check_kinds(questions, cases);
  const Pairs pairs = pairs_of(items, cases, individuals, case_indices, questions.size(), out);
  Failures failures;
  std::int64_t steps = 0;
  {
    const flexicase::WithoutGil others_run;
    steps = evaluate(items, cases, pairs, limits, questions, threads, out.data(), failures);
  }
  return nb::make_tuple(steps, failures_to_python(failures));
}

// Answers that wait to become Python objects; runs need no lock of the interpreter.
class Answers {
 public:
  // Runs a program on a case and notes an error of an instruction written in Python as that of a pair.
  void run(Machine& m, const Item& program, const Cases& cases, std::size_t index, const Limits& limits,
           std::int64_t pair) {
    if (run_case(m, program, cases, index, limits) == Status::foreign_error) {
      failures.add(pair, std::exchange(m.failure, nullptr));
    }
  }
  void add(Machine& m, const Question& asked) {
    Item place;
    const Item* found = answer(m, asked, place);
    items_.emplace_back(found ? std::optional(copied(*found, arena_)) : std::nullopt);
  }
  nb::list to_python() const {
    nb::list list;
    for (const auto& item : items_) list.append(item ? push_values::ToPython()(*item) : nb::none());
    return list;
  }

  Failures failures;

 private:
  Arena arena_{4096};
  std::vector<std::optional<Item>> items_;
};

// The errors of the questions that have a measure, and the answers to those that have none.
nb::tuple errors_and_answers(nb::list programs, const Cases& cases, Indices individuals, Indices case_indices,
                             const Limits& limits, nb::list asked, Errors out) {
  const std::vector<Item> items = items_of(programs);
  const std::vector<Question> questions = questions_of(asked);
  check_kinds(questions, cases);
  const Pairs pairs = pairs_of(items, cases, individuals, case_indices, questions.size(), out);
  std::int64_t steps = 0;
  Answers answers;
  {
    const flexicase::WithoutGil others_run;
    Machine m;
    for (std::int64_t i = 0; i < pairs.count; ++i) {
      const auto index = static_cast<std::size_t>(pairs.cases[i]);
      answers.run(m, items[static_cast<std::size_t>(pairs.programs[i])], cases, index, limits, i);
      steps += m.steps;
      measure(m, cases, index, questions, out.data() + static_cast<std::size_t>(i) * questions.size());
      for (const Question& one : questions) {
        if (one.measure == Measure::custom) answers.add(m, one);
      }
    }
  }
  return nb::make_tuple(steps, answers.to_python(), failures_to_python(answers.failures));
}

nb::tuple outputs(const Code& program, const Cases& cases, const std::string& stack, const Limits& limits) {
  Question asked;
  asked.stack = stack_number(stack);
  asked.measure = Measure::custom;
  Answers answers;
  {
    const flexicase::WithoutGil others_run;
    Machine m;
    for (std::size_t i = 0; i < cases.inputs.size(); ++i) {
      answers.run(m, program.item, cases, i, limits, static_cast<std::int64_t>(i));
      answers.add(m, asked);
    }
  }
  return nb::make_tuple(answers.to_python(), failures_to_python(answers.failures));
}

}  // namespace

void bind_push_batch(nb::module_& m) {
  nb::class_<Cases>(m, "PushCases").def("__len__", [](const Cases& self) { return self.inputs.size(); });
  nb::class_<Question>(m, "PushQuestion")
      .def(
          "__init__",
          [](Question* self, const std::string& stack, const std::string& error, double penalty, double per_element,
             int decimals, nb::str label) {
            std::u16string text;
            for (const char c : std::string(label.c_str())) text.push_back(static_cast<unsigned char>(c));
            new (self) Question(question(stack, error, penalty, per_element, decimals, text));
          },
          "stack"_a, "error"_a, "penalty"_a, "per_element"_a, "decimals"_a, "label"_a);
  m.def("push_cases", &make_cases, "inputs"_a, "targets"_a, "has_output"_a = true);
  m.def(
      "push_check_kinds", [](nb::list asked, const Cases& cases) { check_kinds(questions_of(asked), cases); },
      "questions"_a, "cases"_a);
  m.def("push_errors", &errors, "programs"_a, "cases"_a, "individuals"_a, "case_indices"_a, "limits"_a, "questions"_a,
        "threads"_a, "out"_a.noconvert());
  m.def("push_errors_and_answers", &errors_and_answers, "programs"_a, "cases"_a, "individuals"_a, "case_indices"_a,
        "limits"_a, "questions"_a, "out"_a.noconvert());
  m.def("push_outputs", &outputs, "program"_a, "cases"_a, "stack"_a, "limits"_a);
}

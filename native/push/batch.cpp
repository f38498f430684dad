#include "push/batch.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

#include "flexicase/parallel.hpp"
#include "push/identity.hpp"

namespace flexicase::push {

Status run_case(Machine& m, const Item& program, const Cases& cases, std::size_t index, const Limits& limits) {
  m.reset(limits);
  m.inputs = cases.inputs[index];
  m.has_output = cases.has_output;
  if (limits.stack < 1) return Status::stack_limit;
  m.stacks[kExec].push(program);
  m.spend(100);
  return m.run();
}

void measure(Machine& m, const Cases& cases, std::size_t index, const std::vector<Question>& questions,
             double* errors) {
  const Item* target = &cases.targets[index * questions.size()];
  for (const Question& question : questions) {
    Item place;
    *errors++ = error_of(m, question, answer(m, question, place), *target++);
  }
}

void Failures::merge(Failures&& other) {
  count += other.count;
  std::move(other.first.begin(), other.first.end(), std::back_inserter(first));
  std::sort(first.begin(), first.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (first.size() > kKept) first.resize(kKept);
}

namespace {

// Pairs that need no run of their own: their programs are identical, and so are their cases.
class Shared {
 public:
  Shared(const std::vector<Item>& programs, const Cases& cases, const Pairs& pairs) {
    // With few runs of each program it would take longer to find identical ones than to run them. Inputs with code may
    // call instructions from outside the engine.
    constexpr std::int64_t kWorth = 4;
    if (pairs.count < kWorth * static_cast<std::int64_t>(programs.size()) || any_code(cases)) return;
    const std::vector<std::size_t> first = first_identical(programs);
    std::vector<std::int64_t> row(programs.size(), -1);  // of the programs that have copies
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i] != i && row[first[i]] < 0) row[first[i]] = rows++;
    }
    const auto width = static_cast<std::int64_t>(cases.inputs.size());
    if (!rows || rows * width > pairs.count) return;
    std::vector<std::int64_t> source(static_cast<std::size_t>(rows * width), -1);
    same_as_.resize(static_cast<std::size_t>(pairs.count));
    times_.assign(same_as_.size(), 1);
    for (std::int64_t i = 0; i < pairs.count; ++i) {
      const std::int64_t at = row[first[static_cast<std::size_t>(pairs.programs[i])]];
      std::int64_t none = -1;
      std::int64_t& known = at < 0 ? none : source[static_cast<std::size_t>(at * width + pairs.cases[i])];
      if (known < 0) known = i;
      same_as_[static_cast<std::size_t>(i)] = known;
      if (known != i) ++times_[static_cast<std::size_t>(known)];
    }
  }

  // The number of pairs that a pair is run for, 0 if it is the copy of another.
  std::int64_t times(std::int64_t pair) const {
    const auto i = static_cast<std::size_t>(pair);
    return same_as_.empty() ? 1 : same_as_[i] == pair ? times_[i] : 0;
  }
  void copy(double* errors, std::int64_t width) const {
    for (std::size_t i = 0; i < same_as_.size(); ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      if (same_as_[i] != pair) std::copy_n(errors + same_as_[i] * width, width, errors + pair * width);
    }
  }

 private:
  static bool any_code(const Cases& cases) {
    return std::any_of(cases.inputs.begin(), cases.inputs.end(), [](const std::vector<Item>& inputs) {
      return std::any_of(inputs.begin(), inputs.end(), [](const Item& item) { return item.kind > Kind::vector; });
    });
  }

  std::vector<std::int64_t> same_as_, times_;  // by pair; empty if there are no copies
};

}  // namespace

std::int64_t evaluate(const std::vector<Item>& programs, const Cases& cases, const Pairs& pairs, const Limits& limits,
                      const std::vector<Question>& questions, int threads, double* errors, Failures& failures) {
  constexpr std::int64_t kChunk = 64;
  std::atomic<std::int64_t> next{0}, steps{0};
  std::mutex lock;
  const auto width = static_cast<std::int64_t>(questions.size());
  const Shared shared(programs, cases, pairs);
  const std::int64_t workers = std::min<std::int64_t>(std::max(threads, 1), (pairs.count + kChunk - 1) / kChunk);
  in_parallel(std::max<std::int64_t>(workers, 1), 1, threads, [&](std::int64_t, std::int64_t, Watch& watch) {
    Machine m;
    m.watch = &watch;
    Failures failed;
    std::int64_t made = 0, last = -1;
    for (std::int64_t start; (start = next.fetch_add(kChunk)) < pairs.count;) {
      const std::int64_t end = std::min(start + kChunk, pairs.count);
      for (std::int64_t i = start; i < end; ++i) {
        const std::int64_t times = shared.times(i);
        if (!times) continue;
        const auto index = static_cast<std::size_t>(pairs.cases[i]);
        const std::int64_t program = pairs.programs[i];
        if (program != last || !m.same_on_all_cases) {
          const Item& code = programs[static_cast<std::size_t>(program)];
          if (run_case(m, code, cases, index, limits) == Status::foreign_error) {
            failed.add(i, std::exchange(m.failure, nullptr));
          }
          last = program;
        }
        made += times * m.steps;
        measure(m, cases, index, questions, errors + i * width);
      }
    }
    steps += made;
    const std::lock_guard guard(lock);
    failures.merge(std::move(failed));
  });
  shared.copy(errors, width);
  return steps;
}

}  // namespace flexicase::push

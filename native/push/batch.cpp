#include "push/batch.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

#include "flexicase/parallel.hpp"

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

std::int64_t evaluate(const std::vector<Item>& programs, const Cases& cases, const Pairs& pairs, const Limits& limits,
                      const std::vector<Question>& questions, int threads, double* errors, Failures& failures) {
  constexpr std::int64_t kChunk = 64;
  std::atomic<std::int64_t> next{0}, steps{0};
  std::mutex lock;
  const auto width = static_cast<std::int64_t>(questions.size());
  const std::int64_t workers = std::min<std::int64_t>(std::max(threads, 1), (pairs.count + kChunk - 1) / kChunk);
  in_parallel(std::max<std::int64_t>(workers, 1), 1, threads, [&](std::int64_t, std::int64_t, Watch& watch) {
    Machine m;
    m.watch = &watch;
    Failures failed;
    std::int64_t made = 0;
    for (std::int64_t start; (start = next.fetch_add(kChunk)) < pairs.count;) {
      const std::int64_t end = std::min(start + kChunk, pairs.count);
      for (std::int64_t i = start; i < end; ++i) {
        const auto index = static_cast<std::size_t>(pairs.cases[i]);
        const Item& program = programs[static_cast<std::size_t>(pairs.programs[i])];
        if (run_case(m, program, cases, index, limits) == Status::foreign_error) {
          failed.add(i, std::exchange(m.failure, nullptr));
        }
        made += m.steps;
        measure(m, cases, index, questions, errors + i * width);
      }
    }
    steps += made;
    const std::lock_guard guard(lock);
    failures.merge(std::move(failed));
  });
  return steps;
}

}  // namespace flexicase::push

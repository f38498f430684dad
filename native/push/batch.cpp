#include "push/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <mutex>

#include "flexicase/parallel.hpp"

namespace flexicase::push {
namespace {

double value_of(const Item& item) { return item.kind == Kind::real ? item.real : static_cast<double>(item.number); }

bool is_number(const Item& item) { return item.kind == Kind::integer || item.kind == Kind::real; }

// Insertions, deletions and substitutions between two sequences.
template <class Same>
double levenshtein(std::uint32_t a, std::uint32_t b, Same same) {
  std::vector<std::uint32_t> row(b + 1);
  for (std::uint32_t j = 0; j <= b; ++j) row[j] = j;
  for (std::uint32_t i = 1; i <= a; ++i) {
    std::uint32_t diagonal = row[0];
    row[0] = i;
    for (std::uint32_t j = 1; j <= b; ++j) {
      const std::uint32_t changed = diagonal + (same(i - 1, j - 1) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b];
}

double distance(Machine& m, const Item& a, const Item& b) {
  if (a.kind == Kind::string) {
    return levenshtein(a.length, b.length, [&](auto i, auto j) { return a.text[i] == b.text[j]; });
  }
  return levenshtein(a.length, b.length, [&](auto i, auto j) { return equal(m, a.items[i], b.items[j]); });
}

double vector_difference(const Item& a, const Item& b, double per_element) {
  const std::uint32_t common = std::min(a.length, b.length);
  double total = per_element * (std::max(a.length, b.length) - common);
  for (std::uint32_t i = 0; i < common; ++i) total += std::fabs(value_of(a.items[i]) - value_of(b.items[i]));
  return total;
}

}  // namespace

Status run_case(Machine& m, const Item& program, const Cases& cases, std::size_t index, const Limits& limits) {
  m.reset(limits);
  m.inputs = cases.inputs[index];
  m.has_output = true;
  if (limits.stack < 1) return Status::stack_limit;
  m.stacks[kExec].push(program);
  return m.run();
}

const Item* answer(Machine& m, const Question& question, Item& place) {
  if (question.stack == kStacks) {
    place = string(m.output.data(), static_cast<std::uint32_t>(m.output.size()));
    return &place;
  }
  Stack& stack = m.stacks[question.stack];
  return stack.size ? &stack.top() : nullptr;
}

double error_of(Machine& m, const Question& question, const Item* answer, const Item& expected) {
  if (!answer) return question.penalty;
  switch (question.measure) {
    case Measure::mismatch: return equal(m, *answer, expected) ? 0 : 1;
    case Measure::absolute:
    case Measure::rounded: {
      if (!is_number(*answer)) return question.penalty;
      const double error = std::fabs(value_of(*answer) - value_of(expected));
      if (std::isnan(error)) return question.penalty;
      return question.measure == Measure::rounded ? std::floor(error * question.scale + 0.5) / question.scale : error;
    }
    case Measure::levenshtein: return answer->kind == expected.kind ? distance(m, *answer, expected) : question.penalty;
    default: return vector_difference(*answer, expected, question.scale);
  }
}

void Failures::merge(Failures&& other) {
  count += other.count;
  std::move(other.first.begin(), other.first.end(), std::back_inserter(first));
  std::sort(first.begin(), first.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (first.size() > kKept) first.resize(kKept);
}

std::int64_t evaluate(const std::vector<Item>& programs, const Cases& cases, const Pairs& pairs, const Limits& limits,
                      const Question& question, int threads, double* errors, Failures& failures) {
  constexpr std::int64_t kChunk = 64;
  std::atomic<std::int64_t> next{0}, steps{0};
  std::mutex lock;
  std::exception_ptr thrown;
  const std::int64_t workers = std::min<std::int64_t>(std::max(threads, 1), (pairs.count + kChunk - 1) / kChunk);
  in_parallel(std::max<std::int64_t>(workers, 1), 1, threads, [&](std::int64_t, std::int64_t) {
    Machine m;
    Failures failed;
    std::int64_t made = 0;
    try {
      for (std::int64_t start; (start = next.fetch_add(kChunk)) < pairs.count;) {
        const std::int64_t end = std::min(start + kChunk, pairs.count);
        for (std::int64_t i = start; i < end; ++i) {
          const auto index = static_cast<std::size_t>(pairs.cases[i]);
          const Item& program = programs[static_cast<std::size_t>(pairs.programs[i])];
          if (run_case(m, program, cases, index, limits) == Status::foreign_error) {
            failed.add(i, std::exchange(m.failure, nullptr));
          }
          made += m.steps;
          Item place;
          errors[i] = error_of(m, question, answer(m, question, place), cases.expected[index]);
        }
      }
    } catch (...) {
      const std::lock_guard guard(lock);
      if (!thrown) thrown = std::current_exception();
      next = pairs.count;
    }
    steps += made;
    const std::lock_guard guard(lock);
    failures.merge(std::move(failed));
  });
  if (thrown) std::rethrow_exception(thrown);
  return steps;
}

}  // namespace flexicase::push

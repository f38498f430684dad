// Many programs on many cases.
#pragma once

#include <exception>
#include <vector>

#include "push/genome.hpp"

namespace flexicase::push {

struct Cases {
  Arena arena{4096};
  std::vector<std::vector<Item>> inputs;
  std::vector<Item> expected;
};

enum class Measure { mismatch, absolute, rounded, levenshtein, vector_difference };

// Where the answer of a run is read and what its error is.
struct Question {
  int stack = kInteger;  // kStacks: the printed text
  Measure measure = Measure::absolute;
  double penalty = 0;  // of a run without an answer
  double scale = 1;    // 10 to the decimals that are kept (rounded); error per element too many (vector_difference)
};

// Runs a program on one case and leaves the machine as the run did.
Status run_case(Machine& m, const Item& program, const Cases& cases, std::size_t index, const Limits& limits);
// The item the question is about; null if there is none.
const Item* answer(Machine& m, const Question& question, Item& place);
double error_of(Machine& m, const Question& question, const Item* answer, const Item& expected);

struct Pairs {
  const std::int64_t* programs;
  const std::int64_t* cases;
  std::int64_t count;
};

// Runs that ended with Status::foreign_error.
struct Failures {
  static constexpr std::size_t kKept = 100;

  std::int64_t count = 0;
  std::vector<std::pair<std::int64_t, std::exception_ptr>> first;  // by pair, in increasing order

  void add(std::int64_t pair, std::exception_ptr failure) {
    ++count;
    if (first.size() < kKept) first.emplace_back(pair, std::move(failure));
  }
  void merge(Failures&& other);
};

// The error of each pair of a program and a case, and the steps made in all; the same for any number of threads.
// An exception that is not a failure of one run ends the work and is thrown on.
std::int64_t evaluate(const std::vector<Item>& programs, const Cases& cases, const Pairs& pairs, const Limits& limits,
                      const Question& question, int threads, double* errors, Failures& failures);

}  // namespace flexicase::push

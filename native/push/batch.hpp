// Many programs on many cases.
#pragma once

#include <exception>
#include <vector>

#include "push/genome.hpp"
#include "push/measures.hpp"

namespace flexicase::push {

struct Cases {
  Arena arena{4096};
  std::vector<std::vector<Item>> inputs;
  std::vector<Item> targets;  // one for each question, case after case
  bool has_output = true;     // whether the printed text starts empty; without it, it starts with a marker
};

// Runs a program on one case and leaves the machine as the run did.
Status run_case(Machine& m, const Item& program, const Cases& cases, std::size_t index, const Limits& limits);
// The errors of the run that the machine has just made, one for each question.
void measure(Machine& m, const Cases& cases, std::size_t index, const std::vector<Question>& questions, double* errors);

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

// The errors of each pair of a program and a case, one for each question and from one run, and the steps made in all;
// the same for any number of threads. An exception that is not a failure of one run ends the work and is thrown on.
std::int64_t evaluate(const std::vector<Item>& programs, const Cases& cases, const Pairs& pairs, const Limits& limits,
                      const std::vector<Question>& questions, int threads, double* errors, Failures& failures);

}  // namespace flexicase::push

// The pool at the start of an event, cut down to what can matter, and the cases as pure orders.
#pragma once

#include <cstdint>
#include <vector>

#include "flexicase/kernel.hpp"
#include "flexicase/matrix.hpp"
#include "flexicase/parallel.hpp"
#include "flexicase/probabilities.hpp"

namespace flexicase {

// Distinct error vectors. Individuals with the same errors are told apart only by the final random pick.
struct Pool {
  std::vector<std::int64_t> rows;       // one individual for each
  std::vector<double> copies;           // how many individuals have it
  std::vector<std::int64_t> member_of;  // (individuals,) which one they have, or -1 if it cannot be selected

  std::size_t size() const { return rows.size(); }

  // Shares what each error vector has got among the individuals that have it.
  std::vector<double> share(const std::vector<double>& outcome) const;
};

// One case: the place of each member's error among the levels of that case, best first, and for each
// level the last one that survives if it is the best of the pool.
struct Column {
  std::vector<std::uint32_t> code;
  std::vector<std::uint32_t> reach;
  double weight = 1.0;
  double count = 1.0;  // cases that it represents

  std::size_t levels() const { return reach.size(); }

  // Whether the filter removes no member, now or from a smaller pool.
  bool idle() const { return reach.empty() || reach.front() + 1 == reach.size(); }
};

// All distinct error vectors; if `uncut_exact`, without those that no event of an exact filter that ends with
// one error vector left can select.
Pool make_pool(const Matrix& matrix, bool uncut_exact, Watch& watch);

// The cases for one error at a time and a tolerance that does not depend on the pool.
std::vector<Column> make_columns(const Matrix& matrix, const Pool& pool, const KernelOptions& options, Watch& watch);

// Takes out the error vectors that another one dominates: whenever one of them survives an exact filter, so
// does the other, so no other outcome depends on them and they are never selected.
void drop_dominated(Pool& pool, std::vector<Column>& columns, Watch& watch);

// (pool, cases) errors as numbers to be summed.
std::vector<double> make_values(const Matrix& matrix, const Pool& pool, Watch& watch);

// Whether errors (cases, pool) and tolerances can be summed without rounding, in any order: multiples of 2^-10 that
// stay small.
bool sums_are_exact(const std::vector<double>& values, const std::vector<double>& tolerances);

// The members of a set of bits.
void list_members(const std::uint64_t* set, std::size_t words, std::vector<std::uint32_t>& members);

// Adds the probability of an event that ends with these members to their outcomes; each of their copies gets the same.
void share_among(const std::vector<std::uint32_t>& members, const std::vector<double>& copies, double probability,
                 std::vector<double>& outcome);

// (cases,) tolerance per case: given, from the whole population, or 0.
std::vector<double> make_tolerances(const Matrix& matrix, const KernelOptions& options, Watch& watch);

// For uniform and weighted orders when nothing but the cases ends an event and the tolerance does not
// depend on the pool: a case that was used, or that tells no survivors apart, never will again, so an
// event is described by its survivors alone.
ExactOutcome solve_by_survivors(const Pool& pool, std::vector<Column> columns, std::uint64_t max_states, Watch& watch);

// For everything else: survivors and used cases.
ExactOutcome solve_by_used_cases(const Matrix& matrix, const Pool& pool, std::vector<Column> columns,
                                 const KernelOptions& options, std::uint64_t max_states, Watch& watch);

}  // namespace flexicase

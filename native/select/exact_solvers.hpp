// The two ways of following all events at once.
#pragma once

#include <cstdint>
#include <vector>

#include "exact_pool.hpp"
#include "flexicase/exact.hpp"

namespace flexicase {

// For uniform and weighted orders when nothing but the cases ends an event and the tolerance does not
// depend on the pool: a case that was used, or that tells no survivors apart, never will again, so an
// event is described by its survivors alone.
ExactOutcome solve_by_survivors(const Pool& pool, std::vector<Column> columns, std::uint64_t max_states, Watch& watch);

// For everything else: survivors and used cases.
ExactOutcome solve_by_used_cases(const Matrix& matrix, const Pool& pool, std::vector<Column> columns,
                                 const KernelOptions& options, std::uint64_t max_states, Watch& watch);

}  // namespace flexicase

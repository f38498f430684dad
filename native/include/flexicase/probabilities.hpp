// Exact selection probabilities: no draws, all ways in which an event can go, weighed.
#pragma once

#include <cstdint>
#include <vector>

#include "flexicase/kernel.hpp"
#include "flexicase/matrix.hpp"

namespace flexicase {

struct ExactOutcome {
  std::vector<double> probabilities;  // (individuals,), empty if there were too many states
  std::uint64_t states = 0;           // states that were met
  double estimate = 0.0;              // if there were too many: about how many there are, from a sample of them
};

// Probabilities that an event selects each individual. Meets `max_states` different states at most; 0
// allows as many as take a few seconds and less than a gigabyte.
ExactOutcome exact_probabilities(const Matrix& matrix, const KernelOptions& options, std::uint64_t max_states);

}  // namespace flexicase

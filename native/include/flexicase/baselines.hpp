// The methods beside the lexicase filters: tournaments, roulette wheels, plexicase, DALex, and the
// farthest-first traversal of informed down-sampling. The readable twins are in Python.
#pragma once

#include <cstdint>

#include "flexicase/select.hpp"

namespace flexicase {

// Sums of errors per batch of cases, case after case: (batches, rows). Batch b holds
// cases[starts[b]] … cases[starts[b + 1] - 1]. A sum that is not a number becomes +inf.
void batch_sums(const MatrixView& errors, const std::int64_t* cases, const std::int64_t* starts, std::int64_t batches,
                double* sums);

// Tournaments of `size` entrants drawn with replacement; the lowest score wins, the first drawn of equals.
// Event e is judged on row e modulo `judges` of scores, which is (judges, individuals).
struct TournamentPlan {
  const double* scores = nullptr;
  std::int64_t judges = 1;
  std::int64_t individuals = 0;
  std::int64_t size = 1;
};
void draw_tournaments(const TournamentPlan& plan, const Request& request, std::int64_t n, int threads);

// Spins of one roulette wheel, given as the running sums of its weights.
void draw_wheel(const double* wheel, std::int64_t individuals, const Request& request, std::int64_t n, int threads);

// Plexicase selection: the part of the cases that each of some individuals gets. `unique rows` are rows,
// one per distinct error vector; shares has as many entries.
void elite_shares(const MatrixView& errors, const std::int64_t* unique_rows, std::int64_t n_unique_rows,
                  double* shares);

// DALex: the lowest sum of errors weighted by the exponentials of normal variables.
struct AggregatePlan {
  const double* columns = nullptr;  // (cases, individuals) errors above the best of each case
  std::int64_t cases = 0;
  std::int64_t individuals = 0;
  double std = 0.0;
};
void draw_aggregates(const AggregatePlan& plan, const Request& request, std::int64_t n, int threads);

// Farthest-first traversal of the columns of a 0/1 matrix (parents, cases) by Hamming distance.
void farthest_first(const std::uint8_t* solved, std::int64_t parents, std::int64_t cases, Stream stream,
                    std::int64_t size, std::int64_t* chosen);

}  // namespace flexicase

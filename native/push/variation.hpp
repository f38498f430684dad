// Genetic operators, pipelines of them, and the children they make.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "push/population.hpp"

namespace flexicase::push {

enum class Operator : std::uint8_t {
  reproduction,
  genesis,
  alternation,
  uniform_crossover,
  two_point_crossover,
  uniform_mutation,
  uniform_instruction_mutation,
  uniform_integer_mutation,
  uniform_float_mutation,
  uniform_tag_mutation,
  uniform_string_mutation,
  uniform_boolean_mutation,
  uniform_close_mutation,
  uniform_silence_mutation,
  uniform_addition,
  uniform_deletion,
  uniform_addition_and_deletion,
  uniform_combination,
  uniform_combination_and_deletion,
  uniform_reordering,
  uniform_segment_reordering,
  uniform_segment_transposition,
  uniform_segment_duplication,
  uniform_segment_deletion,
  gene_selection,
  count
};

inline constexpr const char* kOperatorNames[] = {"reproduction",
                                                 "genesis",
                                                 "alternation",
                                                 "uniform_crossover",
                                                 "two_point_crossover",
                                                 "uniform_mutation",
                                                 "uniform_instruction_mutation",
                                                 "uniform_integer_mutation",
                                                 "uniform_float_mutation",
                                                 "uniform_tag_mutation",
                                                 "uniform_string_mutation",
                                                 "uniform_boolean_mutation",
                                                 "uniform_close_mutation",
                                                 "uniform_silence_mutation",
                                                 "uniform_addition",
                                                 "uniform_deletion",
                                                 "uniform_addition_and_deletion",
                                                 "uniform_combination",
                                                 "uniform_combination_and_deletion",
                                                 "uniform_reordering",
                                                 "uniform_segment_reordering",
                                                 "uniform_segment_transposition",
                                                 "uniform_segment_duplication",
                                                 "uniform_segment_deletion",
                                                 "gene_selection"};
static_assert(std::size(kOperatorNames) == static_cast<std::size_t>(Operator::count));

enum class RateId : std::uint8_t {
  alternation_rate,
  alignment_deviation,
  mutation_rate,
  tweak_rate,
  float_deviation,
  integer_deviation,
  string_change_rate,
  tag_deviation,
  close_mutation_rate,
  close_increment_rate,
  silence_rate,
  addition_rate,
  deletion_rate,
  addition_and_deletion_rate,
  combination_rate,
  combination_and_deletion_rate,
  reordering_rate,
  segmenting_rate,
  transposition_rate,
  segment_duplication_rate,
  segment_deletion_rate,
  gene_selection_rate,
  count
};

inline constexpr const char* kRateNames[] = {"alternation_rate",      "alignment_deviation",
                                             "mutation_rate",         "tweak_rate",
                                             "float_deviation",       "integer_deviation",
                                             "string_change_rate",    "tag_deviation",
                                             "close_mutation_rate",   "close_increment_rate",
                                             "silence_rate",          "addition_rate",
                                             "deletion_rate",         "addition_and_deletion_rate",
                                             "combination_rate",      "combination_and_deletion_rate",
                                             "reordering_rate",       "segmenting_rate",
                                             "transposition_rate",    "segment_duplication_rate",
                                             "segment_deletion_rate", "gene_selection_rate"};
static_assert(std::size(kRateNames) == static_cast<std::size_t>(RateId::count));

// What becomes of a child that is too big.
enum class TooBig : std::uint8_t { random, parent, empty, truncate };

using Pipeline = std::vector<Operator>;

struct Variation {
  std::shared_ptr<const GeneSource> source;
  std::vector<Pipeline> pipelines;
  std::vector<double> below;  // sums of the pipelines' probabilities
  std::array<std::vector<double>, static_cast<std::size_t>(RateId::count)> rates;
  std::int64_t max_points = 0;          // a child has at most a quarter of it in genes
  std::int64_t max_initial_genome = 0;  // genes of a random genome
  TooBig too_big = TooBig::random;
  bool silent_marker = false;
};

// The pipeline that makes each of `size` children.
void draw_pipelines(const Variation& variation, Key key, std::int64_t size, std::int64_t* chosen);

// The parents that a pipeline may need. An operator that selects anew for each gene may need `largest` of them, the
// number of genes of the largest parent.
std::int64_t parents_needed(const Pipeline& pipeline, std::int64_t largest);

struct Brood {
  const std::int64_t* pipelines;  // one for each child
  const std::int64_t* first;      // where each child's parents begin
  const std::int64_t* parents;    // the first parent of a child, then the further ones in the order of use
  std::int64_t size;
};

// The children, and how many of its parents each of them used; the same for any number of threads.
std::shared_ptr<Population> breed(const Variation& variation, const Population& parents, const Brood& brood, Key key,
                                  int threads, std::int64_t* used);

}  // namespace flexicase::push

// Genetic operators, pipelines of them, and the children they make.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "push/population.hpp"

namespace flexicase::push {

// Each list makes the enumerators and their names.
#define FX_ENUMERATOR(name) name,
#define FX_NAME(name) #name,

// clang-format off: one line each otherwise
#define FX_OPERATORS(X) \
  X(reproduction) X(genesis) X(alternation) X(uniform_crossover) X(two_point_crossover) X(uniform_mutation) \
  X(uniform_instruction_mutation) X(uniform_integer_mutation) X(uniform_float_mutation) \
  X(uniform_tag_mutation) X(uniform_string_mutation) X(uniform_boolean_mutation) X(uniform_close_mutation) \
  X(uniform_silence_mutation) X(uniform_addition) X(uniform_deletion) X(uniform_addition_and_deletion) \
  X(uniform_combination) X(uniform_combination_and_deletion) X(uniform_reordering) \
  X(uniform_segment_reordering) X(uniform_segment_transposition) X(uniform_segment_duplication) \
  X(uniform_segment_deletion) X(gene_selection)
enum class Operator : std::uint8_t { FX_OPERATORS(FX_ENUMERATOR) count };
inline constexpr const char* kOperatorNames[] = {FX_OPERATORS(FX_NAME)};

#define FX_RATES(X) \
  X(alternation_rate) X(alignment_deviation) X(mutation_rate) X(tweak_rate) X(float_deviation) \
  X(integer_deviation) X(string_change_rate) X(tag_deviation) X(close_mutation_rate) X(close_increment_rate) \
  X(silence_rate) X(addition_rate) X(deletion_rate) X(addition_and_deletion_rate) X(combination_rate) \
  X(combination_and_deletion_rate) X(reordering_rate) X(segmenting_rate) X(transposition_rate) \
  X(segment_duplication_rate) X(segment_deletion_rate) X(gene_selection_rate)
enum class RateId : std::uint8_t { FX_RATES(FX_ENUMERATOR) count };
inline constexpr const char* kRateNames[] = {FX_RATES(FX_NAME)};
// clang-format on

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

// The parents that a pipeline may need. An operator that selects again for each gene may need `largest` of them, the
// number of genes of the largest parent.
std::int64_t parents_needed(const Pipeline& pipeline, std::int64_t largest);

struct Brood {
  const std::int64_t* pipelines;  // one for each child
  const std::int64_t* first;      // where each child's parents begin
  const std::int64_t* parents;    // the first parent of a child, then the further ones in the order of use
  std::int64_t size;
};

// The children, and how many of its parents each of them used, negative for a child that was replaced by a random or
// an empty genome; the same for any number of threads.
std::shared_ptr<Population> breed(const Variation& variation, const Population& parents, const Brood& brood, Key key,
                                  int threads, std::int64_t* used);

}  // namespace flexicase::push

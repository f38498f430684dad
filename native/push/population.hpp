// Many genomes, the programs they stand for, and their bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "push/gene_source.hpp"

namespace flexicase::push {

// The item with its memory in `arena`.
Item copied(const Item& item, Arena& arena);

struct Population {
  Population() = default;
  Population(const Population&) = delete;
  Population& operator=(const Population&) = delete;

  std::vector<std::vector<Gene>> genomes;
  std::vector<std::unique_ptr<Arena>> arenas;  // of strings and vectors of the genes

  Arena& add_arena() { return *arenas.emplace_back(std::make_unique<Arena>(4096)); }
};

// The same for any number of threads: genome i comes from stream i of the key.
std::shared_ptr<Population> random_population(const GeneSource& source, std::int64_t size, std::int64_t most_genes,
                                              Key key, int threads);

// The programs of all genomes. Strings and vectors stay in the memory of the population.
struct Programs {
  std::vector<Item> items;
  std::vector<std::unique_ptr<Arena>> arenas;
};
std::shared_ptr<Programs> translate(const Population& population, std::int64_t max_points, int threads);

// Bytes are the same in every process. Reading throws std::invalid_argument when the bytes are not those of a
// population or code, or when they name an instruction from outside the engine that is not there.
std::string to_bytes(const Population& population);
std::shared_ptr<Population> population_from_bytes(std::string_view bytes);
std::string to_bytes(const Item& code);
std::shared_ptr<Code> code_from_bytes(std::string_view bytes);

// A program with one or two points deleted, or with one pair of parentheses removed; what is kept is copied to `arena`.
// Removing parentheses also puts the elements of vectors in the place of the vectors.
Item smaller(const Item& program, Stream& stream, Arena& arena);

}  // namespace flexicase::push

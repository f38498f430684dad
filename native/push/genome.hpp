// Plush genomes and their translation to programs.
#pragma once

#include <memory>
#include <vector>

#include "push/machine.hpp"

namespace flexicase::push {

// An item together with the memory it lies in.
struct Code {
  explicit Code(std::size_t bytes = 1024) : arena(bytes) {}

  Arena arena;
  Item item = make(Kind::list);
};

enum class Silence : std::uint8_t { none, silent, noop };

struct Gene {
  Item item;
  std::int32_t close;
  Silence silence;
};

class Translation;

// Translates genomes, one after another with the same memory.
class Translator {
 public:
  Translator();
  ~Translator();

  // As `translate`.
  Item operator()(const std::vector<Gene>& genes, std::int64_t max_points, Arena& arena, Watch& watch);

 private:
  std::unique_ptr<Translation> translation_;
};

// The program of a genome; the empty program if it has more than `max_points` points. Strings and vectors of the
// program stay in the memory of the genes.
Item translate(const std::vector<Gene>& genes, std::int64_t max_points, Arena& arena, Watch& watch);

// A program as a sequence: items, and parentheses that open and close.
enum class Mark : std::uint8_t { item, open, close };

struct Token {
  Mark mark;
  Item item;
};
using Tokens = std::vector<Token>;

// The tokens of a list.
Tokens tokens_of(const Item& list);
// The list of tokens, with all its memory in `arena`.
Item gathered(const Tokens& tokens, Arena& arena);

}  // namespace flexicase::push

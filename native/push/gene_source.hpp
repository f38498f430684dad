// Random genes and genomes from a list of generators.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "flexicase/rng.hpp"
#include "push/genome.hpp"

namespace flexicase::push {

// Characters that constants are made of: newline, tab and the printable ones.
inline constexpr int kVisible = 97;
inline char16_t visible(std::uint64_t i) { return i == 0 ? u'\n' : i == 1 ? u'\t' : static_cast<char16_t>(30 + i); }

enum class Draw : std::uint8_t { fixed, integer, real, boolean, character, string, tag, tagged, words, vector };

// An entry of a generator list.
struct Generator {
  Draw draw = Draw::fixed;
  Item item = make(Kind::nil);         // fixed
  std::int64_t low = 0, high = 0;      // integers, lengths of strings and vectors, numbers of tags
  double real_low = 0, real_high = 0;  // floats
  std::vector<std::uint16_t> stacks;   // of tags
  std::vector<std::u16string> groups;  // of characters
  std::vector<double> weights;         // of the groups, summed up
  bool words = false;                  // spaces of a string: single, and none at its ends
  std::u16string letters;              // of words, between which one of the groups stands
  std::vector<Generator> parts;        // the element of a vector; lengths of words, drawn by their shares
  std::vector<double> shares;          // summed up
};

// A value of an entry.
Item drawn(const Generator& from, Stream& stream, Arena& fresh);

class GeneSource {
 public:
  Arena arena{4096};  // of the fixed strings and vectors
  std::vector<Generator> generators;
  std::array<double, 4> close_below{};  // close is the first i with a unit draw below close_below[i]
  bool close_marker = true;
  double silent_probability = 0;

  Item item(Stream& stream, Arena& fresh) const {
    return drawn(generators[stream.bounded(generators.size())], stream, fresh);
  }
  Gene gene(Stream& stream, Arena& fresh) const;
  // A genome of 1 … `most` genes, its length uniform.
  void genome(Stream& stream, Arena& fresh, std::int64_t most, std::vector<Gene>& genes) const;
};

}  // namespace flexicase::push

// The cases of a ranked order: groups of equal weight, heaviest first, from which cases are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "flexicase/rng.hpp"

namespace flexicase {

class RankedCases {
 public:
  // weights: (cases,) positive.
  void build(const double* weights, std::int64_t cases);
  // Between draws of different events only.
  void reweigh(std::int64_t at_case, double before, double after);

  // Puts back all cases that were drawn.
  void restore();
  // Draws a case from those left and takes it out: an upper bound on the rank, a rank, one of the tied.
  std::int64_t draw(Stream& stream);

  std::size_t bytes() const { return static_cast<std::size_t>(cases_) * 2 * sizeof(std::int32_t); }

 private:
  struct Group {
    double weight;
    std::vector<std::int32_t> members;  // ascending, apart from those drawn, which are at the end
    std::int64_t left;                  // members not drawn
  };
  struct Swap {
    std::size_t group;
    std::int64_t chosen;
    std::int64_t last;
  };

  std::size_t group_of(double weight);
  std::vector<Group>::iterator place_of(double weight);

  std::int64_t cases_ = 0;
  std::int64_t left_ = 0;
  std::vector<Group> groups_;
  std::vector<Swap> swaps_;           // of the draws since `restore`
  std::vector<std::int32_t> counts_;  // while building, the groups of small whole weights, by weight; -1 for none
  std::unordered_map<double, std::size_t> names_;  // those of all other weights
};

}  // namespace flexicase

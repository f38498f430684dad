// A roulette wheel over the cases whose weights change a few at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flexicase {

class CaseWheel {
 public:
  // weights: (cases,) positive, as they stand; they must be the same until the next call.
  void build(const double* weights, std::int64_t cases);
  void reweigh(std::int64_t at_case);
  // To be called after those, before the wheel is spun.
  void lay_out();

  double total() const { return ends_.back(); }
  // The first case whose running weight sum exceeds the spin, which must be below the total.
  std::int64_t at(double spin) const;

  std::size_t bytes() const { return (sums_.capacity() + regions_.capacity() + ends_.capacity()) * sizeof(double); }

 private:
  void sum_stretch(std::int64_t stretch);
  void sum_region(std::size_t region);

  const double* weights_ = nullptr;
  std::int64_t cases_ = 0;
  bool whole_ = true;            // all weights are whole numbers, and so is every sum
  std::vector<double> sums_;     // weights of the stretches of cases
  std::vector<double> regions_;  // weights of the regions, which are stretches of stretches
  std::vector<double> ends_;     // running sums: of the regions if `whole_`, otherwise of the cases
};

}  // namespace flexicase

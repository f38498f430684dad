// What the genetic operators work on: the child so far, and its own random draws.
#pragma once

#include <cmath>
#include <utility>

#include "flexicase/normals.hpp"
#include "push/variation.hpp"

namespace flexicase::push {

using Genes = std::vector<Gene>;

struct VariationContext {
  const Variation& variation;
  Arena& fresh;  // of strings made on the way
  Stream stream{0};
  Genes child{}, next{};
  std::vector<std::size_t> segments{};  // where they end

  bool chance(double probability) { return stream.unit() < probability; }
  bool coin() { return stream.word() >> 63; }
  double rate(RateId id) {
    const std::vector<double>& values = variation.rates[static_cast<std::size_t>(id)];
    return values.size() == 1 ? values[0] : values[stream.bounded(values.size())];
  }
  double open_unit() { return (std::bit_cast<double>((stream.word() >> 12) | 0x3FF0000000000000u) - 1.0) + 0x1p-53; }
  double gaussian() {
    const double u = open_unit();
    return normal_pair(u, open_unit()).first;
  }
  Gene random_gene() { return variation.source->gene(stream, fresh); }
  Item random_item() { return variation.source->item(stream, fresh); }
  std::size_t most_genes() const { return static_cast<std::size_t>(variation.max_points / 4); }
  bool is_too_big(std::size_t genes) const { return genes > most_genes(); }
  // Puts what an operator has written to `next` in the place of the child.
  void finish() {
    std::swap(child, next);
    next.clear();
  }
};

// The nearest integer, ties upwards; limited to what 64 bits hold.
inline std::int64_t rounded(double value) {
  const double whole = std::floor(value + 0.5);
  if (whole >= 0x1p63) return INT64_MAX;
  return whole < -0x1p63 ? INT64_MIN : static_cast<std::int64_t>(whole);
}

void mutate(VariationContext& context, Operator how);     // one parent, gene by gene
void rearrange(VariationContext& context, Operator how);  // one parent, in pieces
void cross(VariationContext& context, Operator how, const Genes& other);
void delete_genes(VariationContext& context, double rate);

}  // namespace flexicase::push

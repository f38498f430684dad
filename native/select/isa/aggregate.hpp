// Sums of errors weighted by the exponentials of normal variables (DALex).
#pragma once

#include "flexicase/normals.hpp"
#include "flexicase/rng.hpp"
#include "select/isa/tag.hpp"

namespace flexicase::FX_ISA {

inline void draw_normals(u64 lane, i64 pairs, double* out) {
  for (i64 j = 0; j < pairs; ++j) {
    const Pair drawn = normal_pair(unit_above_zero(lane, j), unit_above_zero(lane, pairs + j));
    out[j] = drawn.first;
    out[pairs + j] = drawn.second;
  }
}

inline void exponentials(const double* x, i64 n, double largest, double scale, double* out) {
  for (i64 c = 0; c < n; ++c) out[c] = decay((x[c] - largest) * scale);
}

inline void add_scaled(double weight, const double* x, i64 n, double* sums) {
  for (i64 p = 0; p < n; ++p) sums[p] += weight * x[p];
}

}  // namespace flexicase::FX_ISA

// How many states a problem has, from a sample of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "exact_stages.hpp"
#include "flexicase/normals.hpp"

namespace flexicase {

// How many states a stage has if `seen` of them are met along `hits` steps from states that were sampled at a rate.
//
// A state with d steps into it is met with probability 1 - (1 - rate)^d, and then along d * rate / that many steps in
// the mean: what was seen tells d, if it is the same for all. It is not, so the outcome tends to be too low.
inline double stage_size(double seen, double hits, double rate) {
  const double wanted = hits / seen;
  if (rate >= 1.0) return seen;
  // -log(1 - rate) and 1 - exp(-x), corrected for the rounding of their first steps (Kahan).
  const double rest = 1.0 - rate;
  const double each = rest == 1.0 ? rate : negative_log_of(rest) * (rate / (1.0 - rest));
  const auto met = [&](double d) {
    const double x = d * each;
    if (x > 40.0) return 1.0;
    const double left = decay(-x);
    return left == 1.0 ? x : (1.0 - left) * (x / negative_log_of(left));
  };
  double low = 1.0;
  double high = 2.0;
  while (high * rate / met(high) < wanted) high *= 2.0;
  for (int i = 0; i < 60; ++i) {
    const double d = (low + high) / 2.0;
    (d * rate / met(d) < wanted ? low : high) = d;
  }
  return seen / met(low);
}

// Goes through the stages with a sample of the states of each, chosen by their hashes, so that the outcome is always
// the same. Takes about as long as a search of `max_states` states. See propagate() for the model.
template <class Model, std::size_t W>
double estimate_states(Model& model, const Steps<W>& start, std::uint64_t max_states) {
  const std::uint64_t all_stages = std::clamp<std::uint64_t>(max_states, 10'000, 60'000);
  struct Sample {
    Stage<W> states;
    double hits = 0.0;   // steps to them from the states of earlier samples
    double steps = 0.0;  // how many that makes from all states
  };
  std::vector<Sample> samples(model.stages(), Sample{Stage<W>(start.width())});
  std::vector<std::pair<std::uint64_t, std::size_t>> children;
  const auto add = [&](const Steps<W>& steps, double rate) {
    children.clear();
    for (std::size_t i = 0; i < steps.size(); ++i) children.emplace_back(start.width().hash(steps.key(i)), i);
    std::sort(children.begin(), children.end());
    for (std::size_t k = 0; k < children.size(); ++k) {
      const auto [hash, i] = children[k];
      if (k > 0 && hash == children[k - 1].first) continue;
      Sample& sample = samples[model.stage(steps.key(i))];
      sample.states.add(steps.key(i), hash, 0.0);
      sample.hits += 1.0;
      sample.steps += 1.0 / rate;
    }
  };
  add(start, 1.0);
  const std::uint64_t most = std::clamp<std::uint64_t>(all_stages / samples.size(), 100, 3000);
  Steps<W> steps(start.width());
  double total = 0.0;
  for (Sample& sample : samples) {
    const auto seen = static_cast<double>(sample.states.size());
    if (seen == 0.0) continue;
    const double size = stage_size(seen, sample.hits, sample.hits / sample.steps);
    total += size;
    const double share = std::min(1.0, static_cast<double>(most) / seen);
    const double rate = share * seen / size;
    for (std::size_t cell = 0; cell < sample.states.cells(); ++cell) {
      if (sample.states.is_free(cell)) continue;
      const std::uint64_t draw = mix64(start.width().hash(sample.states.key(cell)));
      if (static_cast<double>(draw >> 11) * 0x1p-53 >= share) continue;
      model.expand(sample.states.key(cell), 0.0, steps);
      add(steps, rate);
    }
    sample.states.free();
  }
  return total;
}

}  // namespace flexicase

// How probability flows through the states of an event.
//
// A state is a key of some 64-bit words. Every step of an event leads to a state of a later stage,
// so the states of a stage have got all their mass when the stages before it are done, and each
// state is expanded just once. Nothing recurs; the table grows with the states that are met.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "exact_estimate.hpp"
#include "exact_stages.hpp"
#include "flexicase/exact.hpp"

namespace flexicase {

// The states met so far.
template <std::size_t W>
class Masses {
 public:
  Masses(Width<W> width, std::size_t stages) : stages_(stages, Stage<W>(width)) {}

  std::size_t size() const { return size_; }
  Stage<W>& operator[](std::size_t stage) { return stages_[stage]; }

  template <class Model>
  void add(const Steps<W>& steps, double mass, const Model& model) {
    where_.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      where_[i] = {&stages_[model.stage(steps.key(i))], steps.width().hash(steps.key(i))};
      where_[i].stage->prefetch(where_[i].hash);
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      size_ += where_[i].stage->add(steps.key(i), where_[i].hash, mass * steps.probability(i));
    }
  }

 private:
  struct Where {
    Stage<W>* stage;
    std::uint64_t hash;
  };

  std::vector<Stage<W>> stages_;
  std::size_t size_ = 0;
  std::vector<Where> where_;
};

// Sends one unit of probability through a model's states. The model keeps what has come to an end.
//
// No key is all zeros. A model has width() (of its keys), stages(), start(Steps&), stage(key), size() (states it keeps
// itself) and expand(key, mass, Steps&), which replaces the steps by those from the key.
template <class Model>
ExactOutcome propagate(Model& model, std::uint64_t max_states) {
  Masses masses(model.width(), model.stages());
  Steps start(model.width());
  Steps steps(model.width());
  model.start(start);
  masses.add(start, 1.0, model);
  const auto met = [&] { return std::max<std::uint64_t>(masses.size(), model.size()); };
  for (std::size_t s = 0; s < model.stages(); ++s) {
    for (std::size_t cell = 0; cell < masses[s].cells(); ++cell) {
      if (masses[s].is_free(cell)) continue;
      const double mass = masses[s].mass(cell);
      model.expand(masses[s].key(cell), mass, steps);
      masses.add(steps, mass, model);
      if (met() > max_states) {
        const std::uint64_t states = met();
        const double estimate = estimate_states(model, start, max_states);
        return {{}, states, std::max(estimate, static_cast<double>(states))};
      }
    }
    masses[s].free();
  }
  return {model.take_outcome(), met(), 0.0};
}

// States that take a few seconds and less than a gigabyte, if each takes so much.
inline std::uint64_t affordable_states(double operations, double bytes) {
  constexpr double most_operations = 1.2e9;
  constexpr double most_bytes = 7e8;
  return static_cast<std::uint64_t>(std::clamp(std::min(most_operations / operations, most_bytes / bytes), 1e4, 4e9));
}

}  // namespace flexicase

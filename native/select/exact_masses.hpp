// How probability flows through the states of an event.
//
// A state is a key of some 64-bit words. Every step of an event leads to a state of a later stage,
// so the states of a stage have got all their mass when the stages before it are done, and each
// state is expanded just once. Nothing recurs; the table grows with the states that are met.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exact_keys.hpp"
#include "flexicase/exact.hpp"
#include "flexicase/rng.hpp"

namespace flexicase {

// Where an event may go from one state: keys, and the probability of each.
template <std::size_t W>
class Steps {
 public:
  explicit Steps(Width<W> width) : width_(width) {}

  Width<W> width() const { return width_; }
  std::size_t size() const { return size_; }
  const std::uint64_t* key(std::size_t i) const { return keys_.data() + i * width_.words(); }
  double& probability(std::size_t i) { return probability_[i]; }
  double probability(std::size_t i) const { return probability_[i]; }

  // Makes room for so many more steps.
  void reserve(std::size_t more) {
    if (size_ + more <= probability_.size()) return;
    probability_.resize(2 * (size_ + more));
    keys_.resize(2 * (size_ + more) * width_.words());
  }

  // Where the key of the next step is to be written, and what makes it a step, if it is one. Needs room.
  std::uint64_t* room() { return keys_.data() + size_ * width_.words(); }
  void add(double p, bool is_step = true) {
    probability_[size_] = p;
    size_ += is_step;
  }

  void move(std::size_t from, std::size_t to) {
    width_.copy(key(from), keys_.data() + to * width_.words());
    probability_[to] = probability_[from];
  }

  void shrink(std::size_t size) { size_ = size; }

 private:
  Width<W> width_;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<double> probability_;
};

// States of one stage with the probability of coming through each. A cell is a key and that probability; a key of
// zeros marks a free cell.
template <std::size_t W>
class Stage {
 public:
  explicit Stage(Width<W> width) : width_(width) {}

  std::size_t size() const { return size_; }
  std::size_t cells() const { return cells_.size() / stride(); }
  const std::uint64_t* key(std::size_t cell) const { return &cells_[cell * stride()]; }
  bool is_free(std::size_t cell) const { return is_zero(key(cell)); }
  double mass(std::size_t cell) const { return std::bit_cast<double>(key(cell)[width_.words()]); }

  void prefetch(std::uint64_t hash) const {
    if (!cells_.empty()) __builtin_prefetch(key(cell_of(hash)));
  }

  // Whether the state is new.
  bool add(const std::uint64_t* key, std::uint64_t hash, double mass) {
    if (size_ >= most_) grow();
    std::uint64_t* cell = &cells_[cell_of(hash) * stride()];
    while (!width_.equal(cell, key) && !is_zero(cell)) {
      cell += stride();
      if (cell == cells_.data() + cells_.size()) cell = cells_.data();
    }
    const bool is_new = is_zero(cell);
    if (is_new) {
      width_.copy(key, cell);
      ++size_;
    }
    std::uint64_t& sum = cell[width_.words()];
    sum = std::bit_cast<std::uint64_t>(std::bit_cast<double>(sum) + mass);
    return is_new;
  }

  void free() { std::vector<std::uint64_t>().swap(cells_); }

 private:
  std::size_t stride() const { return width_.words() + 1; }
  std::size_t cell_of(std::uint64_t hash) const { return (hash >> 20) & mask_; }

  bool is_zero(const std::uint64_t* key) const {
    std::uint64_t bits = 0;
    for (std::size_t w = 0; w < width_.words(); ++w) bits |= key[w];
    return bits == 0;
  }

  void grow() {
    std::vector<std::uint64_t> old(std::max<std::size_t>(2 * cells_.size(), 8 * stride()), 0);
    old.swap(cells_);
    mask_ = cells() - 1;
    most_ = cells() / 3 * 2;
    for (std::size_t at = 0; at < old.size(); at += stride()) {
      const std::uint64_t* key = &old[at];
      if (is_zero(key)) continue;
      std::size_t cell = cell_of(width_.hash(key));
      while (!is_free(cell)) cell = (cell + 1) & mask_;
      std::copy_n(key, stride(), &cells_[cell * stride()]);
    }
  }

  Width<W> width_;
  std::size_t size_ = 0;
  std::size_t mask_ = 0;
  std::size_t most_ = 0;  // states before the cells get too full
  std::vector<std::uint64_t> cells_;
};

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

// How many states there may be, from those that random events come through: Chao's lower bound for
// the number of species ("Nonparametric estimation of the number of classes in a population", 1984).
template <class Model, std::size_t W>
double estimate_states(Model& model, const Steps<W>& start, std::uint64_t steps_to_take) {
  std::unordered_map<std::uint64_t, int> seen;
  Steps<W> steps = start;
  std::vector<std::uint64_t> key(start.width().words());
  Stream stream{golden};
  for (std::uint64_t taken = 0; taken < steps_to_take; ++taken) {
    double spin = stream.unit();
    std::size_t i = 0;
    while (i < steps.size() && spin >= steps.probability(i)) spin -= steps.probability(i++);
    if (i == steps.size()) {
      steps = start;
      continue;
    }
    steps.width().copy(steps.key(i), key.data());
    ++seen[steps.width().hash(key.data())];
    model.expand(key.data(), 0.0, steps);
  }
  double once = 0;
  double twice = 0;
  for (const auto& [hash, times] : seen) {
    once += times == 1;
    twice += times == 2;
  }
  return static_cast<double>(seen.size()) + once * (once - 1) / (2 * (twice + 1));
}

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
        const double estimate = estimate_states(model, start, std::clamp<std::uint64_t>(states / 10, 1000, 200'000));
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

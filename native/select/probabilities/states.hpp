// States of an event: keys of a few 64-bit words, tables of them, and how probability flows through them.
//
// Every step of an event leads to a state of a later stage. When all earlier stages are done, the states of a stage
// have their whole probability, so each state is expanded once. There is no recursion; the tables grow with the
// states that are met.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "flexicase/normals.hpp"
#include "flexicase/parallel.hpp"
#include "flexicase/probabilities.hpp"
#include "flexicase/rng.hpp"

namespace flexicase {

// How many 64-bit words a key has. Keys are short and have just been written word by word, so they are read that way.
class Width {
 public:
  explicit Width(std::size_t words) : words_(words) {}

  std::size_t words() const { return words_; }

  bool equal(const std::uint64_t* a, const std::uint64_t* b) const {
    std::uint64_t difference = 0;
    for (std::size_t w = 0; w < words(); ++w) difference |= a[w] ^ b[w];
    return difference == 0;
  }

  void copy(const std::uint64_t* from, std::uint64_t* to) const {
    for (std::size_t w = 0; w < words(); ++w) to[w] = from[w];
  }

  std::uint64_t hash(const std::uint64_t* key) const {
    std::uint64_t h = golden;
    for (std::size_t w = 0; w < words(); ++w) {
      h = (h ^ key[w]) * lane_step;
      h ^= h >> 32;
    }
    return h * golden;
  }

 private:
  std::size_t words_;
};

// Fixed-size records, each a key and a few words more, found by their keys. Records never move.
class KeyTable {
 public:
  KeyTable(Width width, std::size_t extra_words) : width_(width), stride_(width.words() + extra_words), slots_(64, 0) {}

  std::size_t size() const { return size_; }
  std::uint64_t* key(std::size_t i) { return chunks_[i / per_chunk].get() + i % per_chunk * stride_; }
  std::uint64_t* extra(std::size_t i) { return key(i) + width_.words(); }

  // The record with this key, made (with extra words of 0) if there is none; whether it was made.
  std::pair<std::uint32_t, bool> find_or_add(const std::uint64_t* key, std::uint64_t hash) {
    const std::uint64_t tag = hash & 0xFFFFFFFF00000000u;
    std::size_t s = slot_of(hash);
    for (; slots_[s] != 0; s = (s + 1) & (slots_.size() - 1)) {
      if ((slots_[s] & 0xFFFFFFFF00000000u) != tag) continue;
      const auto i = static_cast<std::uint32_t>(slots_[s]) - 1;
      if (width_.equal(key, this->key(i))) return {i, false};
    }
    slots_[s] = tag | (size_ + 1);
    const auto i = static_cast<std::uint32_t>(size_);
    append(key);
    if (2 * size_ > slots_.size()) rehash();
    return {i, true};
  }

 private:
  static constexpr std::size_t per_chunk = 1024;

  // The tag is the high half; the middle of the hash is as good for the slot and needs no more words.
  std::size_t slot_of(std::uint64_t hash) const { return (hash >> 16) & (slots_.size() - 1); }

  void append(const std::uint64_t* key) {
    if (size_ % per_chunk == 0) chunks_.push_back(std::make_unique<std::uint64_t[]>(per_chunk * stride_));
    width_.copy(key, this->key(size_++));
  }

  void rehash() {
    std::vector<std::uint64_t> slots(2 * slots_.size(), 0);
    slots_.swap(slots);
    for (std::size_t i = 0; i < size_; ++i) {
      const std::uint64_t hash = width_.hash(key(i));
      std::size_t s = slot_of(hash);
      while (slots_[s] != 0) s = (s + 1) & (slots_.size() - 1);
      slots_[s] = (hash & 0xFFFFFFFF00000000u) | (i + 1);
    }
  }

  Width width_;
  std::size_t stride_;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
  std::vector<std::uint64_t> slots_;  // high half: tag; low half: record + 1, or 0
};

// Where an event may go from one state: keys, and the probability of each.
class Steps {
 public:
  explicit Steps(Width width) : width_(width) {}

  Width width() const { return width_; }
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
  Width width_;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<double> probability_;
};

// States of one stage with the probability of coming through each. A cell is a key and that probability; a key of
// zeros marks a free cell.
class Stage {
 public:
  explicit Stage(Width width) : width_(width) {}

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
    Watch watch;
    for (std::size_t at = 0; at < old.size(); at += stride()) {
      watch.spend(static_cast<std::int64_t>(4 * stride()));
      const std::uint64_t* key = &old[at];
      if (is_zero(key)) continue;
      std::size_t cell = cell_of(width_.hash(key));
      while (!is_free(cell)) cell = (cell + 1) & mask_;
      std::copy_n(key, stride(), &cells_[cell * stride()]);
    }
  }

  Width width_;
  std::size_t size_ = 0;
  std::size_t mask_ = 0;
  std::size_t most_ = 0;  // states before the cells get too full
  std::vector<std::uint64_t> cells_;
};

// How many states a stage has if `seen` of them are met along `hits` steps from states that were sampled at a rate.
//
// A state with d steps into it is met with probability 1 - (1 - rate)^d, and then along d * rate / that many steps in
// the mean: what was seen tells d, if it is the same for all. It is not, so the outcome tends to be too low.
inline double stage_size(double seen, double hits, double rate) {
  const double wanted = hits / seen;
  if (rate >= 1.0) return seen;
  // -log(1 - rate) and 1 - exp(-x), corrected for the rounding of their first steps (Kahan).
  const double rest = 1.0 - rate;
  const double each = rest == 1.0 ? rate : negative_log(rest) * (rate / (1.0 - rest));
  const auto met = [&](double d) {
    const double x = d * each;
    if (x > 40.0) return 1.0;
    const double left = decay(-x);
    return left == 1.0 ? x : (1.0 - left) * (x / negative_log(left));
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
template <class Model>
double estimate_states(Model& model, const Steps& start, std::uint64_t max_states) {
  const std::uint64_t all_stages = std::clamp<std::uint64_t>(max_states, 10'000, 60'000);
  struct Sample {
    Stage states;
    double hits = 0.0;   // steps to them from the states of earlier samples
    double steps = 0.0;  // how many that makes from all states
  };
  std::vector<Sample> samples(model.stages(), Sample{Stage(start.width())});
  std::vector<std::pair<std::uint64_t, std::size_t>> children;
  const auto add = [&](const Steps& steps, double rate) {
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
  Steps steps(start.width());
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

// The states met so far.
class Masses {
 public:
  Masses(Width width, std::size_t stages) : stages_(stages, Stage(width)) {}

  std::size_t size() const { return size_; }
  Stage& operator[](std::size_t stage) { return stages_[stage]; }

  template <class Model>
  void add(const Steps& steps, double mass, const Model& model) {
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
    Stage* stage;
    std::uint64_t hash;
  };

  std::vector<Stage> stages_;
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

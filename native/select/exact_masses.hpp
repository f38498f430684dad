// How probability flows through the states of an event.
//
// A state is a key of some 64-bit words. Every step of an event leads to a state of a later stage,
// so the states of a stage have got all their mass when the stages before it are done, and each
// state is expanded just once. Nothing recurs; the table grows with the states that are met.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "flexicase/exact.hpp"
#include "flexicase/rng.hpp"

namespace flexicase {

inline std::uint64_t hash_words(const std::uint64_t* words, std::size_t n) {
  std::uint64_t h = golden;
  for (std::size_t w = 0; w < n; ++w) {
    h = (h ^ words[w]) * lane_step;
    h ^= h >> 32;
  }
  return h * golden;
}

// Fixed-size records, each a key and a few words more, found by their keys. Records never move.
class KeyTable {
 public:
  KeyTable(std::size_t key_words, std::size_t extra_words)
      : key_words_(key_words), stride_(key_words + extra_words), slots_(64, 0) {}

  std::size_t size() const { return size_; }
  std::uint64_t* key(std::size_t i) { return chunks_[i / per_chunk].get() + i % per_chunk * stride_; }
  std::uint64_t* extra(std::size_t i) { return key(i) + key_words_; }

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[slot_of(hash)]); }

  // The record with this key, made (with extra words of 0) if there is none; whether it was made.
  std::pair<std::uint32_t, bool> find_or_add(const std::uint64_t* key, std::uint64_t hash) {
    const std::uint64_t tag = hash & 0xFFFFFFFF00000000u;
    std::size_t s = slot_of(hash);
    for (; slots_[s] != 0; s = (s + 1) & (slots_.size() - 1)) {
      if ((slots_[s] & 0xFFFFFFFF00000000u) != tag) continue;
      const auto i = static_cast<std::uint32_t>(slots_[s]) - 1;
      if (std::memcmp(this->key(i), key, key_words_ * sizeof *key) == 0) return {i, false};
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
    std::memcpy(this->key(size_++), key, key_words_ * sizeof *key);
  }

  void rehash() {
    std::vector<std::uint64_t> slots(2 * slots_.size(), 0);
    slots_.swap(slots);
    for (std::size_t i = 0; i < size_; ++i) {
      const std::uint64_t hash = hash_words(key(i), key_words_);
      std::size_t s = slot_of(hash);
      while (slots_[s] != 0) s = (s + 1) & (slots_.size() - 1);
      slots_[s] = (hash & 0xFFFFFFFF00000000u) | (i + 1);
    }
  }

  std::size_t key_words_;
  std::size_t stride_;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
  std::vector<std::uint64_t> slots_;  // high half: tag; low half: record + 1, or 0
};

// Where an event may go from one state: keys, and the probability of each.
struct Steps {
  explicit Steps(std::size_t words) : key_words(words) {}

  std::size_t size() const { return probability.size(); }
  const std::uint64_t* key(std::size_t i) const { return keys.data() + i * key_words; }

  void clear() {
    keys.clear();
    probability.clear();
  }

  void add(const std::uint64_t* key, double p) {
    keys.insert(keys.end(), key, key + key_words);
    probability.push_back(p);
  }

  std::size_t key_words;
  std::vector<std::uint64_t> keys;
  std::vector<double> probability;
};

// The states met so far, by stage, with the probability of coming through each.
class Masses {
 public:
  Masses(std::size_t key_words, std::size_t stages)
      : key_words_(key_words), table_(key_words, 2), newest_(stages, none) {}

  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::size_t size() const { return table_.size(); }
  std::uint64_t first(std::size_t stage) const { return newest_[stage]; }
  std::uint64_t next(std::uint64_t i) { return table_.extra(i)[1]; }
  const std::uint64_t* key(std::uint64_t i) { return table_.key(i); }
  double mass(std::uint64_t i) {
    double value;
    std::memcpy(&value, table_.extra(i), sizeof value);
    return value;
  }

  template <class Model>
  void add(const Steps& steps, double mass, const Model& model) {
    hashes_.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      hashes_[i] = hash_words(steps.key(i), key_words_);
      table_.prefetch(hashes_[i]);
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto [record, is_new] = table_.find_or_add(steps.key(i), hashes_[i]);
      const double sum = this->mass(record) + mass * steps.probability[i];
      std::memcpy(table_.extra(record), &sum, sizeof sum);
      if (!is_new) continue;
      const std::size_t stage = model.stage(steps.key(i));
      table_.extra(record)[1] = newest_[stage];
      newest_[stage] = record;
    }
  }

 private:
  std::size_t key_words_;
  KeyTable table_;
  std::vector<std::uint64_t> newest_;
  std::vector<std::uint64_t> hashes_;
};

// How many states there may be, from those that random events come through: Chao's lower bound for
// the number of species ("Nonparametric estimation of the number of classes in a population", 1984).
template <class Model>
double estimate_states(Model& model, const Steps& start) {
  constexpr int events = 1000;
  std::unordered_map<std::uint64_t, int> seen;
  Steps steps(start.key_words);
  std::vector<std::uint64_t> key;
  for (int event = 0; event < events; ++event) {
    Stream stream{mix64(static_cast<std::uint64_t>(event) + golden)};
    for (steps = start; steps.size() > 0; model.expand(key.data(), 0.0, steps)) {
      double spin = stream.unit();
      std::size_t i = 0;
      while (i < steps.size() && spin >= steps.probability[i]) spin -= steps.probability[i++];
      if (i == steps.size()) break;
      key.assign(steps.key(i), steps.key(i) + steps.key_words);
      ++seen[hash_words(key.data(), key.size())];
    }
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
// A model has key_words(), stages(), start(Steps&), stage(key), size() (states it keeps itself) and
// expand(key, mass, Steps&), which replaces the steps by those from the key.
template <class Model>
ExactOutcome propagate(Model& model, std::uint64_t max_states) {
  Masses masses(model.key_words(), model.stages());
  Steps start(model.key_words());
  Steps steps(model.key_words());
  model.start(start);
  masses.add(start, 1.0, model);
  const auto met = [&] { return std::max<std::uint64_t>(masses.size(), model.size()); };
  for (std::size_t stage = 0; stage < model.stages(); ++stage) {
    for (std::uint64_t i = masses.first(stage); i != Masses::none; i = masses.next(i)) {
      const double mass = masses.mass(i);
      model.expand(masses.key(i), mass, steps);
      masses.add(steps, mass, model);
      if (met() > max_states) {
        const std::uint64_t states = met();
        return {{}, states, std::max(estimate_states(model, start), static_cast<double>(states))};
      }
    }
  }
  return {model.take_outcome(), met(), 0.0};
}

// States that take a few seconds and less than a gigabyte, if each takes so much.
inline std::uint64_t affordable_states(double operations, double bytes) {
  constexpr double most_operations = 3e9;
  constexpr double most_bytes = 7e8;
  return static_cast<std::uint64_t>(std::clamp(std::min(most_operations / operations, most_bytes / bytes), 1e4, 4e9));
}

}  // namespace flexicase

// States of events: the steps between them, and tables of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "exact_keys.hpp"
#include "flexicase/parallel.hpp"

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

  Width<W> width_;
  std::size_t size_ = 0;
  std::size_t mask_ = 0;
  std::size_t most_ = 0;  // states before the cells get too full
  std::vector<std::uint64_t> cells_;
};

}  // namespace flexicase

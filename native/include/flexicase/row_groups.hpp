// Finding equal rows among those that come one after another.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "flexicase/rng.hpp"

namespace flexicase {

// Numbers the kinds of rows in the order in which they first come.
class RowGroups {
 public:
  // Bytes that it takes per row, at most, while rows are added.
  static constexpr std::size_t bytes_per_row = 4 + 4 + 10;

  explicit RowGroups(std::size_t rows) : slots_(std::bit_ceil(rows + rows / 4 + 1), -1) {
    first_.reserve(rows);
    tags_.reserve(rows);
  }

  // The number of the row's kind, and whether it is a new one. Equal rows have equal hashes; same(kind) tells
  // whether the row is like those of a kind.
  template <class Same>
  std::pair<std::int32_t, bool> add(std::int32_t row, std::uint64_t hash, Same&& same) {
    const std::uint64_t mixed = mix64(hash);
    const auto tag = static_cast<std::uint32_t>(mixed >> 32);
    const std::size_t last = slots_.size() - 1;
    std::size_t slot = mixed & last;
    for (; slots_[slot] >= 0; slot = (slot + 1) & last) {
      const std::int32_t kind = slots_[slot];
      if (tags_[static_cast<std::size_t>(kind)] == tag && same(kind)) return {kind, false};
    }
    slots_[slot] = static_cast<std::int32_t>(first_.size());
    first_.push_back(row);
    tags_.push_back(tag);
    return {slots_[slot], true};
  }

  // (kinds,) the first row of each kind.
  const std::vector<std::int32_t>& first() const { return first_; }

 private:
  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> first_;
  std::vector<std::uint32_t> tags_;
};

}  // namespace flexicase

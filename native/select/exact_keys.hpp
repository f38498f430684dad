// Short keys of 64-bit words, and a table that numbers them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "flexicase/rng.hpp"

namespace flexicase {

// How many 64-bit words a key has: W, or a number known only at run time if W is 0. Keys are short and have
// just been written word by word, so they are read that way too.
template <std::size_t W>
class Width {
 public:
  explicit Width(std::size_t words) : words_(words) {}

  std::size_t words() const { return W != 0 ? W : words_; }

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
template <std::size_t W>
class KeyTable {
 public:
  KeyTable(Width<W> width, std::size_t extra_words)
      : width_(width), stride_(width.words() + extra_words), slots_(64, 0) {}

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

  Width<W> width_;
  std::size_t stride_;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
  std::vector<std::uint64_t> slots_;  // high half: tag; low half: record + 1, or 0
};

}  // namespace flexicase

// Memory that is taken piece by piece, given back all at once, and kept for the next run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "flexicase/parallel.hpp"

namespace flexicase::push {

enum class Status {
  normal,
  step_limit,
  stack_limit,
  memory_limit,
  code_limit,
  unknown_instruction,
  missing_input,
  foreign_error
};

struct LimitReached {
  Status status;
};

class Arena {
 public:
  // `watch`, if any, counts the memory taken.
  explicit Arena(std::size_t chunk_size, Watch* const* watch = nullptr) : chunk_size_(chunk_size), watch_(watch) {}

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void reset(std::size_t limit) {
    limit_ = limit;
    used_ = opened_ = 0;
    next_ = end_ = nullptr;
    large_.clear();
  }

  template <class T>
  T* take(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + 15) & ~std::size_t{15};
    if (bytes > static_cast<std::size_t>(end_ - next_)) return reinterpret_cast<T*>(take_slowly(bytes));
    std::byte* start = next_;
    next_ += bytes;
    return reinterpret_cast<T*>(start);
  }

  // Bytes taken so far, with those that were left over at the ends of chunks.
  std::size_t taken() const { return used_ - static_cast<std::size_t>(end_ - next_); }
  // Whether `bytes` taken `times` times more, in pieces of any size, certainly stay within the limit: of two chunks in
  // turn, the pieces in both fill more than one.
  bool has_room_for(std::size_t bytes, std::int64_t times) const {
    const std::size_t left = limit_ - used_, spare = 2 * chunk_size_;
    return !bytes || (left > spare && static_cast<std::size_t>(times) <= (left - spare) / (2 * bytes));
  }
  // Bytes this run was given, counted in whole chunks, and bytes kept for the next.
  std::size_t used() const { return used_; }
  std::size_t held_bytes() const { return chunks_.size() * chunk_size_; }

 private:
  using Block = std::unique_ptr<std::byte[]>;
  static constexpr std::size_t kBytesPerNanosecond = 4;

  // Whether a limit is met depends on what this run took, never on what earlier runs left behind.
  void count(std::size_t bytes) {
    if (bytes > limit_ - used_) throw LimitReached{Status::memory_limit};
    used_ += bytes;
    if (watch_) (*watch_)->spend(static_cast<std::int64_t>(bytes / kBytesPerNanosecond));
  }

  std::byte* take_slowly(std::size_t bytes) {
    if (bytes > chunk_size_) {
      count(bytes);
      return large_.emplace_back(std::unique_ptr<std::byte[]>(new std::byte[bytes])).get();
    }
    count(chunk_size_);
    if (opened_ == chunks_.size()) chunks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[chunk_size_]));
    std::byte* start = chunks_[opened_++].get();
    next_ = start + bytes;
    end_ = start + chunk_size_;
    return start;
  }

  std::size_t chunk_size_, limit_ = SIZE_MAX, used_ = 0, opened_ = 0;
  Watch* const* watch_;
  std::vector<Block> chunks_, large_;  // chunks are all of one size and kept; larger pieces are given back
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace flexicase::push

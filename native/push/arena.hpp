// Memory that is taken piece by piece, given back all at once, and kept for the next run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace flexicase::push {

enum class Status { normal, step_limit, stack_limit, memory_limit, code_limit, unknown_instruction, missing_input };

struct LimitReached {
  Status status;
};

class Arena {
 public:
  explicit Arena(std::size_t chunk_size, std::size_t limit = SIZE_MAX) : chunk_size_(chunk_size), limit_(limit) {}

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void reset(std::size_t limit) {
    limit_ = limit;
    used_ = 0;
    index_ = 0;
    if (chunks_.empty()) {
      next_ = end_ = nullptr;
    } else {
      open(0);
    }
  }

  template <class T>
  T* take(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + 15) & ~std::size_t{15};
    if (bytes > static_cast<std::size_t>(end_ - next_)) grow(bytes);
    std::byte* start = next_;
    next_ += bytes;
    return reinterpret_cast<T*>(start);
  }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };

  void open(std::size_t index) {
    next_ = chunks_[index].bytes.get();
    end_ = next_ + chunks_[index].size;
    used_ += chunks_[index].size;
  }

  void grow(std::size_t bytes) {
    while (next_ != nullptr && index_ + 1 < chunks_.size()) {
      ++index_;
      if (used_ + chunks_[index_].size > limit_) throw LimitReached{Status::memory_limit};
      open(index_);
      if (bytes <= chunks_[index_].size) return;
    }
    const std::size_t size = std::max(bytes, chunk_size_);
    if (used_ + size > limit_) throw LimitReached{Status::memory_limit};
    chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    index_ = chunks_.size() - 1;
    open(index_);
  }

  std::size_t chunk_size_, limit_, used_ = 0, index_ = 0;
  std::vector<Chunk> chunks_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace flexicase::push

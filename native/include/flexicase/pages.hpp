// Large blocks of memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace flexicase {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

template <class T>
using Memory = std::unique_ptr<T, Free>;

// Uninitialised memory, in large pages where the system gives them: touching a page for the first
// time is what a large block costs.
template <class T>
Memory<T> allocate(std::size_t count) {
  constexpr std::size_t huge_page = std::size_t{1} << 21;
  const std::size_t bytes = count * sizeof(T);
  void* memory = nullptr;
  if (bytes < 2 * huge_page) {
    memory = std::malloc(bytes > 0 ? bytes : 1);
  } else {
    const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
    memory = std::aligned_alloc(huge_page, rounded);
#if defined(__linux__)
    if (memory != nullptr) madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);  // no more than is asked for
#endif
  }
  if (memory == nullptr) throw std::bad_alloc();
  return Memory<T>(static_cast<T*>(memory));
}

}  // namespace flexicase

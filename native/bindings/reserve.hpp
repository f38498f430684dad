// Memory for exceptions that report a lack of memory.
#pragma once

#include <new>
#if defined(_LIBCPP_VERSION) && defined(__linux__)
#include <sys/mman.h>

#include <cstddef>
#include <mutex>

namespace flexicase {

// libc++abi keeps 512 bytes for such exceptions and ends the process when several threads need more at once; before
// LLVM 15 it hands them out misaligned, which ends the process at the first. So each failing request first gives some
// reserved address space back to the allocator, more than that asks the system for at a time.
class Reserve {
 public:
  static void fill() {
    const std::lock_guard guard(lock_);
    for (void*& piece : pieces_) {
      if (piece == nullptr || piece == MAP_FAILED)
        piece = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (std::get_new_handler() == nullptr) std::set_new_handler(spend);
  }

 private:
  [[noreturn]] static void spend() {
    {
      const std::lock_guard guard(lock_);
      for (void*& piece : pieces_) {
        if (piece == nullptr || piece == MAP_FAILED) continue;
        munmap(piece, size_);
        piece = nullptr;
        break;
      }
    }
    throw std::bad_alloc();
  }

  static constexpr std::size_t size_ = 256 << 10;
  static inline std::mutex lock_;
  static inline void* pieces_[64] = {};
};

}  // namespace flexicase
#else
namespace flexicase {
struct Reserve {
  static void fill() {}  // libstdc++ keeps enough itself
};
}  // namespace flexicase
#endif

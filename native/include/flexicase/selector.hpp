// Lexicase selection for other programs: `select` draws parents from an error matrix, `Selector` keeps what is
// prepared.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "flexicase/kernel.hpp"

namespace flexicase {

// A matrix by rows (individuals × cases) without gaps. It stays the caller's.
template <class T>
  requires std::is_arithmetic_v<T>
MatrixView matrix_view(const T* errors, std::int64_t individuals, std::int64_t cases) {
  static_assert(sizeof(T) <= 8, "an error has at most 64 bits");
  constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  constexpr DType unsigned_types[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  constexpr DType signed_types[] = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr DType type = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? DType::f32 : DType::f64)
                         : std::is_signed_v<T>       ? signed_types[size]
                                                     : unsigned_types[size];
  return {errors, type, individuals, cases, cases, 1};
}

// A generator of 32 or 64 random bits, such as std::mt19937 or std::mt19937_64.
template <class Rng>
concept BitGenerator = requires(Rng& rng) {
  { rng() } -> std::unsigned_integral;
} && Rng::min() == 0 && (Rng::max() == 0xFFFFFFFFu || Rng::max() == ~std::uint64_t{0});

// 128 of its bits.
template <BitGenerator Rng>
Key draw_key(Rng& rng) {
  const auto word = [&]() -> std::uint64_t {
    const std::uint64_t high = rng();
    return Rng::max() == 0xFFFFFFFFu ? high << 32 | rng() : high;
  };
  return Key{word(), word()};
}

// Prepared once per generation, then asked for parents. Safe to share between threads. The errors must outlive it.
class Selector {
 public:
  // Throws std::invalid_argument if the errors or the options cannot be used.
  explicit Selector(const MatrixView& errors, KernelOptions options = {});

  // The parents of events first_event … first_event + n - 1 of a key: the same for any number of threads.
  std::vector<std::int64_t> draw(std::int64_t n, Key key, int threads = 1, std::uint64_t first_event = 0) const;

  // One parent.
  template <BitGenerator Rng>
  std::int64_t operator()(Rng& rng) const {
    std::int64_t parent = 0;
    Request request{draw_key(rng)};
    request.indices = &parent;
    kernel_->draw(request, 1, 1);
    return parent;
  }

 private:
  std::unique_ptr<Kernel> kernel_;
};

// n parents, as rows of the matrix.
std::vector<std::int64_t> select(const MatrixView& errors, std::int64_t n, Key key, KernelOptions options = {},
                                 int threads = 1);

}  // namespace flexicase

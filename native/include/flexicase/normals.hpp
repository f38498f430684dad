// Normal variables and their exponentials from IEEE basic operations. The Python twin is
// flexicase/normals.py; both give the same bits, so the operations and their order are fixed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flexicase/rng.hpp"

namespace flexicase {

// The inner loops of every instruction set use these, so there is nothing here that the linker could share.
template <std::size_t n>
struct Series {
  double coefficients[n];  // of the highest power first
};

template <std::size_t n>
constexpr Series<n> taylor_series(int first, int step, bool alternating) {
  Series<n> series{};
  for (std::size_t k = 0; k < n; ++k) {
    double factorial = 1.0;
    for (int i = 2; i <= first + step * static_cast<int>(k); ++i) factorial *= i;
    series.coefficients[n - 1 - k] = (alternating && k % 2 == 1 ? -1.0 : 1.0) / factorial;
  }
  return series;
}

// Without `inline`: each translation unit has its own.
constexpr auto sine_series = taylor_series<9>(1, 2, true);
constexpr auto cosine_series = taylor_series<10>(0, 2, true);
constexpr auto exp_series = taylor_series<15>(0, 1, false);

template <std::size_t n>
FX_INLINE double polynomial(const Series<n>& series, double x) {
  double value = series.coefficients[0];
  for (std::size_t k = 1; k < n; ++k) value = value * x + series.coefficients[k];
  return value;
}

// The nearest integer, for numbers well below 2^51.
FX_INLINE double nearest_integer(double x) {
  constexpr double magic = 0x1.8p52;
  return (x + magic) - magic;
}

// A whole number below 2^52 as a double, with operations that vectors have everywhere.
FX_INLINE double to_double(std::uint64_t x) { return __builtin_bit_cast(double, x | 0x4330000000000000u) - 0x1p52; }

// -log(v) for 0 < v < 1, the same bits as flexicase.rng.negative_log.
FX_INLINE double negative_log(double v) {
  const auto bits = __builtin_bit_cast(std::uint64_t, v);
  const double half_to_one = __builtin_bit_cast(double, (bits & 0x000FFFFFFFFFFFFFu) | 0x3FE0000000000000u);
  const bool small = half_to_one < 0.7071067811865476;
  const double mantissa = small ? half_to_one * 2.0 : half_to_one;
  const double exponent = to_double(bits >> 52) - (small ? 1023.0 : 1022.0);
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double z = s * s;
  double series = 1.0 / 19;
  for (int k = 17; k > 0; k -= 2) series = series * z + 1.0 / k;
  return -(exponent * 0.6931471805599453 + (2.0 * s) * series);
}

// The exponential variable of a case, from two keys of 32 bits of which the second gives 20.
FX_INLINE double exponential_of_keys(std::uint64_t high, std::uint64_t low) {
  const double twice = 2.0 * to_double(high << 20 | low >> 12) + 1.0;
  return negative_log((0x1p53 - twice) * 0x1p-53);
}

struct Pair {
  double first;
  double second;
};

// Cosine and sine of an angle in turns, 0 to 1.
FX_INLINE Pair cosine_and_sine(double turns) {
  const double quarters = turns * 4.0;
  const double quadrant = nearest_integer(quarters);
  const double x = (quarters - quadrant) * 1.5707963267948966;
  const double square = x * x;
  const double cosine = polynomial(cosine_series, square);
  const double sine = x * polynomial(sine_series, square);
  const bool odd = quadrant == 1.0 || quadrant == 3.0;
  const double half_turn = quadrant == 2.0 || quadrant == 3.0 ? -1.0 : 1.0;
  return {half_turn * (odd ? -sine : cosine), half_turn * (odd ? cosine : sine)};
}

// 2^n for n from -1022 to 1023.
FX_INLINE double power_of_two(std::int32_t n) {
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(n + 1023) << 52);
}

// exp(x) for x <= 0.
FX_INLINE double decay(double x) {
  x = x > -800.0 ? x : -800.0;
  const double power = nearest_integer(x * (1.0 / 0.6931471805599453));
  const double rest = (x - power * 0.693147180369123816490) - power * 1.90821492927058770002e-10;
  const auto half = static_cast<std::int32_t>(power * 0.5);
  const auto other_half = static_cast<std::int32_t>(power) - half;
  return polynomial(exp_series, rest) * power_of_two(half) * power_of_two(other_half);
}

// Draw number j of a lane as a number from 2^-53 to 1 - 2^-53.
FX_INLINE double unit_above_zero(std::uint64_t lane, std::int64_t j) {
  const std::uint64_t word = mix64(lane + static_cast<std::uint64_t>(j + 1) * golden);
  return (__builtin_bit_cast(double, (word >> 12) | 0x3FF0000000000000u) - 1.0) + 0x1p-53;
}

// Two standard normal variables from two uniform ones (Box and Muller, 1958).
FX_INLINE Pair normal_pair(double u, double v) {
  const double radius = __builtin_sqrt(2.0 * negative_log(u));
  const auto [cosine, sine] = cosine_and_sine(v);
  return {radius * cosine, radius * sine};
}

}  // namespace flexicase

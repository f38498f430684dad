// Numbers with 128 bits of precision, for the steps between the argument and the result of an elementary function.
// Each operation is off by a few units in the last of these bits at most.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace flexicase::elementary {

__extension__ typedef unsigned __int128 Unsigned;
__extension__ typedef __int128 Signed;

constexpr Unsigned join(std::uint64_t high, std::uint64_t low) { return Unsigned{high} << 64 | low; }
constexpr std::uint64_t high_half(Unsigned x) { return static_cast<std::uint64_t>(x >> 64); }

constexpr int leading_zeros(Unsigned x) {
  return high_half(x) ? std::countl_zero(high_half(x)) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

// The upper half of a product.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) { return high_half(Unsigned{a} * b); }
constexpr Unsigned times(Unsigned a, Unsigned b) {
  const std::uint64_t a1 = high_half(a), a0 = static_cast<std::uint64_t>(a);
  const std::uint64_t b1 = high_half(b), b0 = static_cast<std::uint64_t>(b);
  return Unsigned{a1} * b1 + times(a1, b0) + times(a0, b1);
}

// ± mantissa × 2^exponent; the top bit of the mantissa is set unless the number is zero.
struct Scaled {
  Unsigned mantissa;
  int exponent;
  bool negative = false;
};

constexpr Scaled kZero{0, -1'000'000};

constexpr Scaled scaled(Unsigned mantissa, int exponent, bool negative = false) {
  if (mantissa == 0) return kZero;
  const int shift = leading_zeros(mantissa);
  return {mantissa << shift, exponent - shift, negative};
}
constexpr Scaled scaled(Signed value, int exponent) {
  return value < 0 ? scaled(0 - static_cast<Unsigned>(value), exponent, true)
                   : scaled(static_cast<Unsigned>(value), exponent);
}
// A finite double.
inline Scaled scaled(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFF;
  if (exponent == 0) return scaled(Unsigned{fraction}, -1074, x < 0);
  return {Unsigned{fraction | std::uint64_t{1} << 52} << 75, exponent - 1150, x < 0};
}

constexpr Scaled operator-(const Scaled& a) { return {a.mantissa, a.exponent, !a.negative}; }
constexpr Scaled operator*(const Scaled& a, const Scaled& b) {
  return scaled(times(a.mantissa, b.mantissa), a.exponent + b.exponent + 128, a.negative != b.negative);
}
constexpr Scaled operator+(const Scaled& a, const Scaled& b) {
  if (b.mantissa == 0) return a;
  if (a.mantissa == 0) return b;
  if (a.exponent < b.exponent) return b + a;
  const int distance = a.exponent - b.exponent;
  if (distance > 127) return a;
  // One bit is given up so that a sum has room.
  const Unsigned x = a.mantissa >> 1, y = b.mantissa >> distance >> 1;
  if (a.negative == b.negative) return scaled(x + y, a.exponent + 1, a.negative);
  return x >= y ? scaled(x - y, a.exponent + 1, a.negative) : scaled(y - x, a.exponent + 1, b.negative);
}
constexpr Scaled operator-(const Scaled& a, const Scaled& b) { return a + -b; }
constexpr bool is_larger(const Scaled& a, const Scaled& b) {  // without signs
  if (a.mantissa == 0 || b.mantissa == 0) return a.mantissa > b.mantissa;
  return a.exponent != b.exponent ? a.exponent > b.exponent : a.mantissa > b.mantissa;
}

// The first 53 bits of the mantissa, as a number from 1 to 2.
inline double first_bits(const Scaled& a) {
  return std::bit_cast<double>((static_cast<std::uint64_t>(a.mantissa >> 75) & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000u);
}
inline Scaled times_power_of_two(Scaled a, int power) {
  if (a.mantissa) a.exponent += power;
  return a;
}

// The quotient of the first bits, and what that leaves over divided in the same way.
inline Scaled operator/(const Scaled& a, const Scaled& b) {
  if (a.mantissa == 0) return a;
  const auto quotient = [&](const Scaled& x) {
    Scaled q = times_power_of_two(scaled(first_bits(x) / first_bits(b)), x.exponent - b.exponent);
    q.negative = x.negative != b.negative;
    return q;
  };
  const Scaled first = quotient(a), rest = a - first * b;
  return rest.mantissa ? first + quotient(rest) : first;
}

// Newton's step from the root of the first bits; of a number that is not negative.
inline Scaled root(const Scaled& a) {
  if (a.mantissa == 0) return a;
  const int odd = (a.exponent + 127) & 1;
  const Scaled first =
      times_power_of_two(scaled(std::sqrt(first_bits(a) * (odd ? 2.0 : 1.0))), (a.exponent + 127 - odd) / 2);
  const Scaled rest = a - first * first;
  return rest.mantissa ? first + times_power_of_two(rest / first, -1) : first;
}

// The first binary digits behind the point, of a number from 0 to 1.
constexpr Unsigned fixed_point(const Scaled& a, int places) {
  const int shift = -(a.exponent + places);
  return shift < 128 ? a.mantissa >> shift : 0;
}

// The nearest double.
inline double nearest(const Scaled& a) {
  if (a.mantissa == 0) return 0.0;
  const int power = a.exponent + 127;  // of the first bit
  const int bits = power >= -1022 ? 53 : 53 - (-1022 - power);
  std::uint64_t out = 0;
  if (power > 1023) {
    out = std::uint64_t{0x7FF} << 52;
  } else if (bits >= 0) {
    const Unsigned kept = bits ? a.mantissa >> (128 - bits) : 0, rest = a.mantissa << bits, half = Unsigned{1} << 127;
    out = static_cast<std::uint64_t>(kept) + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
    if (power >= -1022) out += static_cast<std::uint64_t>(power + 1022) << 52;
  }
  return std::bit_cast<double>(out | std::uint64_t{a.negative} << 63);
}

}  // namespace flexicase::elementary

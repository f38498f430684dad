// Every function: bring the argument to a small interval, look up its value at a point of a table near it, and add the
// first terms of a Taylor series for the rest; in integers, with 128 bits.
#include "push/elementary.hpp"
#include "push/tables.hpp"

namespace flexicase::elementary::accurate {
namespace {

// 2^64 / n.
constexpr std::uint64_t part(std::uint64_t n) { return static_cast<std::uint64_t>((Unsigned{1} << 64) / n); }
// c[0] - c[1] z + c[2] z² - …, all with 64 binary places.
template <std::size_t n>
constexpr std::uint64_t alternating(const std::uint64_t (&c)[n], std::uint64_t z) {
  std::uint64_t sum = c[n - 1];
  for (std::size_t k = n - 1; k-- > 0;) sum = c[k] - times(z, sum);
  return sum;
}

// --- sine, cosine, tangent ---

// The bits of 2 / pi, after 64 zeros.
constexpr std::uint64_t kTwoPerPi[] = {0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041,
                                       0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E,
                                       0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B,
                                       0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
                                       0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
                                       0xF0CFBC209AF4361D};

struct Reduced {
  Scaled rest;   // from -pi/4 to pi/4
  int quadrant;  // 0 to 3: the angle is so many quarter turns, and the rest
};
// Multiplies by 256 bits of 2 / pi: those before them make whole turns, those behind them do not count.
Reduced reduce(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1075;
  if (std::fabs(x) < 0.785) return {scaled(x), 0};
  const std::uint64_t mantissa = (bits & 0xFFFFFFFFFFFFF) | std::uint64_t{1} << 52;
  const int first = exponent - 2 + 64, word = first / 64, shift = first % 64;
  const auto window = [&](int i) {
    const std::uint64_t next = word + i + 1 < static_cast<int>(std::size(kTwoPerPi)) ? kTwoPerPi[word + i + 1] : 0;
    return shift ? kTwoPerPi[word + i] << shift | next >> (64 - shift) : kTwoPerPi[word + i];
  };
  Unsigned low = Unsigned{mantissa} * window(3);
  const Unsigned second = Unsigned{mantissa} * window(2) + high_half(low);
  low = join(static_cast<std::uint64_t>(second), static_cast<std::uint64_t>(low));
  Unsigned high = Unsigned{mantissa} * window(1) + high_half(second);
  high += Unsigned{mantissa * window(0)} << 64;
  int quadrant = static_cast<int>(high >> 126);
  high = high << 2 | low >> 126;
  low <<= 2;
  const bool above = high >> 127;  // nearer to the next quadrant
  if (above) {
    ++quadrant;
    low = 0 - low;
    high = 0 - high - (low != 0);
  }
  const int zeros = leading_zeros(high);
  Scaled turned{zeros ? high << zeros | low >> (128 - zeros) : high, -128 - zeros, above};
  turned = turned * kHalfPi;
  if (x < 0) return {-turned, -quadrant & 3};
  return {turned, quadrant & 3};
}

// An angle from 0 to pi/4: the nearest point of the table below it, and what is left; with 128 binary places.
struct Angle {
  std::size_t point;
  Unsigned rest, square;

  explicit Angle(const Scaled& angle) {
    const Unsigned all = fixed_point(angle, 128);
    point = static_cast<std::size_t>(all >> 121);
    rest = all & ((Unsigned{1} << 121) - 1);
    square = times(rest, rest);
  }
  // 1 - sin(rest) / rest and 1 - cos(rest).
  Unsigned sine_falls_by() const {
    constexpr std::uint64_t c[] = {part(6), part(120), part(5040), part(362880)};
    return times(square, Unsigned{alternating(c, high_half(square))} << 64);
  }
  Unsigned cosine_falls_by() const {
    constexpr std::uint64_t c[] = {part(2), part(24), part(720), part(40320), part(3628800)};
    return times(square, Unsigned{alternating(c, high_half(square))} << 64);
  }
};

Scaled sine(const Scaled& x) {
  const Angle a(x);
  const Unsigned falls = a.sine_falls_by();
  if (a.point == 0) return x * scaled(kOne - (falls >> 1), -127);
  const auto& [s, c] = kCircle[a.point];
  Scaled out = scaled(s + times(c, a.rest - times(a.rest, falls)) - times(s, a.cosine_falls_by()), -127);
  out.negative = x.negative;
  return out;
}
Scaled cosine(const Scaled& x) {
  const Angle a(x);
  const auto& [s, c] = kCircle[a.point];
  return scaled(c - times(s, a.rest - times(a.rest, a.sine_falls_by())) - times(c, a.cosine_falls_by()), -127);
}

// --- arc tangent ---

// atan(y / x), of numbers that are not negative.
Scaled arc_tangent(const Scaled& y, const Scaled& x) {
  if (is_larger(y, x)) return kHalfPi - arc_tangent(x, y);
  if (y.mantissa == 0) return y;
  const int distance = x.exponent - y.exponent;
  const double ratio = distance > 20 ? 0.0 : first_bits(y) / (first_bits(x) * static_cast<double>(1 << distance));
  const auto point = static_cast<int>(ratio * kPoints + 0.5);
  const Scaled step = scaled(Unsigned(point), 0);
  const auto scale = [](const Scaled& a) { return times_power_of_two(a, 7); };
  const Scaled rest = point ? (scale(y) - step * x) / (scale(x) + step * y) : y / x;
  const Unsigned fixed = fixed_point(rest, 128), square = times(fixed, fixed);
  constexpr std::uint64_t c[] = {part(3), part(5), part(7), part(9), part(11), part(13)};
  const Unsigned falls = times(square, Unsigned{alternating(c, high_half(square))} << 64);
  return scaled(kArcTangents[static_cast<std::size_t>(point)], -127) + rest * scaled(kOne - (falls >> 1), -127);
}

Scaled magnitude(double x) { return scaled(std::fabs(x)); }
Scaled other_leg(const Scaled& x) { return root(scaled(1.0) - x * x); }  // of a triangle with hypotenuse 1

// --- logarithm and power ---

// Of a finite number above zero.
Scaled logarithm(double number) {
  const Scaled x = scaled(number);
  const auto m = static_cast<std::int64_t>(x.mantissa >> 75);
  const LogPoint& at = kLogs[static_cast<std::size_t>(m >> 45) & 127];
  const int twos = x.exponent + 127 + at.above_root;
  // log(1 + f) = f (1 - f/2 + f² (1/3 - f/4 + …)), f with 60 binary places and from -1/128 to 1/128.
  const std::int64_t f = m * static_cast<std::int64_t>(at.factor) - (std::int64_t{1} << 60);
  const std::int64_t wide = f * 4;
  std::int64_t series = 0;
  for (int k = 12; k >= 3; --k) {
    constexpr auto part_of = [](int n) { return (std::int64_t{1} << 62) / n; };
    series = (k % 2 ? part_of(k) : -part_of(k)) + static_cast<std::int64_t>((Signed{wide} * series) >> 62);
  }
  const Unsigned square = static_cast<Unsigned>(Signed{f} * f) << 6;  // with 126 binary places
  const Unsigned ratio =
      (kOne >> 1) - (static_cast<Unsigned>(Signed{f}) << 65) + times(square, static_cast<Unsigned>(series) << 66);
  const Scaled rest = scaled(Signed{f}, -60) * scaled(ratio, -126);
  const Signed point = at.log + twos * static_cast<Signed>(kLog2 >> (128 - kLogPlaces));
  return point ? scaled(point, -kLogPlaces) + rest : rest;
}

Scaled power_of_two(const Scaled& x) {
  const int places = -x.exponent;  // behind the point
  if (places <= 128 - 12) return x.negative ? Scaled{kOne, -100'000} : Scaled{kOne, 100'000};
  int whole = places < 128 ? static_cast<int>(x.mantissa >> places) : 0;
  Unsigned fraction = places < 128 ? x.mantissa << (128 - places) : fixed_point(x, 128);
  if (x.negative) {
    whole = -whole - (fraction != 0);
    fraction = 0 - fraction;
  }
  const Unsigned u = times(fraction & ((Unsigned{1} << 121) - 1), kLog2);
  std::uint64_t series = part(362880);
  for (const std::uint64_t c : {part(40320), part(5040), part(720), part(120), part(24), part(6), part(2)}) {
    series = c + times(high_half(u), series);
  }
  const Unsigned point = kPowersOfTwo[static_cast<std::size_t>(fraction >> 121)];
  return {point + times(point, u + times(times(u, u), Unsigned{series} << 64)), whole - 127};
}

Scaled whole_power(Scaled x, int n) {
  Scaled out = scaled(1.0);
  for (; n; n >>= 1) {
    if (n & 1) out = out * x;
    x = x * x;
  }
  return out;
}

}  // namespace

double sin(double x) {
  const auto [rest, quadrant] = reduce(x);
  const Scaled out = quadrant & 1 ? cosine(rest) : sine(rest);
  return nearest(quadrant & 2 ? -out : out);
}

double cos(double x) {
  const auto [rest, quadrant] = reduce(x);
  const Scaled out = quadrant & 1 ? sine(rest) : cosine(rest);
  return nearest((quadrant + 1) & 2 ? -out : out);
}

double tan(double x) {
  const auto [rest, quadrant] = reduce(x);
  return nearest(quadrant & 1 ? -(cosine(rest) / sine(rest)) : sine(rest) / cosine(rest));
}

double asin(double x) {
  const Scaled size = magnitude(x), out = arc_tangent(size, other_leg(size));
  return nearest(x < 0 ? -out : out);
}

double acos(double x) {
  const Scaled size = magnitude(x), out = arc_tangent(other_leg(size), size);
  return nearest(x < 0 ? kPi - out : out);
}

double atan(double x) {
  const Scaled out = arc_tangent(magnitude(x), scaled(1.0));
  return nearest(x < 0 ? -out : out);
}

double log(double x) { return nearest(logarithm(x)); }
double log10(double x) { return nearest(logarithm(x) * kPerLog10); }

double pow(double x, double y) {
  // Powers that are exact stay exact, and ties are seen as such.
  if (std::trunc(y) == y && std::fabs(y) <= 64.0) {
    const Scaled power = whole_power(scaled(x), static_cast<int>(std::fabs(y)));
    return nearest(y < 0.0 ? scaled(1.0) / power : power);
  }
  return nearest(power_of_two(logarithm(x) * kPerLog2 * scaled(y)));
}

}  // namespace flexicase::elementary::accurate

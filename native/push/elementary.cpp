// Results as sums of two doubles, with a bound of their error. Where the bound leaves open which double is nearest,
// about once in fifty times, accurate.cpp decides.
#include "push/elementary.hpp"

#include <cstddef>
#include <limits>

#include "push/tables.hpp"

namespace flexicase::elementary {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_tiny(double x) { return std::fabs(x) < 0x1p-27; }  // sin x, tan x, asin x and atan x are x

struct Sum {
  double high, low;
};
// a + b without an error; the second where a is not the smaller one.
Sum sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
Sum sum_in_order(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
// a b without an error (Dekker, 1971).
Sum product(double a, double b) {
  constexpr double splitter = 134217729.0;  // 2^27 + 1
  const double p = splitter * a, q = splitter * b;
  const double a1 = p - (p - a), a2 = a - a1, b1 = q - (q - b), b2 = b - b1, high = a * b;
  return {high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2};
}
// Of sums whose second part is far smaller than the first.
Sum quotient(const Sum& a, const Sum& b) {
  const double q = a.high / b.high;
  const Sum back = product(q, b.high);
  return {q, (((a.high - back.high) - back.low) + (a.low - q * b.low)) / b.high};
}
Sum tidy(const Sum& a) { return sum_in_order(a.high, a.low); }
Sum operator*(double sign, const Sum& a) { return {sign * a.high, sign * a.low}; }

// The nearest double to a result with an error below `error`; or what `decide` gives, if that is not certain.
template <class F>
double settle(const Sum& result, double error, F decide) {
  const double low = result.high + (result.low - error), high = result.high + (result.low + error);
  return low == high ? low : decide();
}

constexpr double kUnit = 0x1p-127;
constexpr double to_double(Unsigned places_127) { return static_cast<double>(places_127) * kUnit; }
constexpr Sum to_sum(Signed value, double unit) {
  const auto high = static_cast<double>(value);
  return {high * unit, static_cast<double>(value - static_cast<Signed>(high)) * unit};
}
// With 127 binary places and at most 1.
constexpr Sum to_sum(Unsigned value) { return to_sum(static_cast<Signed>(value >> 1), 2 * kUnit); }

// --- sine, cosine, tangent ---

struct CirclePoint {
  Sum sine, cosine;
  double cosine_to_1;
};
constexpr auto kCirclePoints = [] {
  std::array<CirclePoint, kCircle.size()> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto& [sine, cosine] = kCircle[i];
    table[i] = {to_sum(sine), to_sum(cosine), to_double(kOne - cosine)};
  }
  return table;
}();

constexpr double kMagic = 0x1.8p52;  // x + kMagic - kMagic is the integer nearest to x

struct Angle {
  Sum rest;  // not negative
  double sign;
};
bool is_plain(double x) { return std::fabs(x) < 0x1p19 && std::fabs(x) >= 0x1p-24; }
constexpr double kPerPi = 0.3183098861837907;  // 1 / pi
double alternate(double whole) { return static_cast<double>(1 - 2 * (static_cast<int>(whole) & 1)); }
// x - k pi / 2: the first two parts of pi / 2 are short enough to be multiplied without an error.
inline Angle without(double k, double x) {
  constexpr double first = 0x1.921FB544p0, second = 0x1.0B4611A6p-34, third = 0x1.3198A2E037073p-69;
  const Sum longer = sum(x, -(k * first)), rest = sum(longer.high, -(k * second));
  const double sign = rest.high < 0 ? -1.0 : 1.0;
  return {sign * sum_in_order(rest.high, longer.low + (rest.low - k * third)), sign};
}

// A point of the table, and the rest of an angle from there.
struct Near {
  const CirclePoint& point;
  double rest, low, sine_falls_by, cosine_falls_by;  // rest - sin rest, 1 - cos rest
};
inline Near near(const Sum& x) {
  const auto i = static_cast<int>(x.high * kPoints + 0.5);
  const double rest = x.high - i * (1.0 / kPoints), z = rest * rest;
  return {kCirclePoints[static_cast<std::size_t>(i)], rest, x.low,
          rest * z * (1.0 / 6 - z * (1.0 / 120 - z * (1.0 / 5040))), z * (1.0 / 2 - z * (1.0 / 24 - z * (1.0 / 720)))};
}

// Of an angle from 0 to pi / 2.
inline Sum sine(const Sum& x) {
  if (x.high < 1.0 / 16) {
    const double z = x.high * x.high;
    const double series = 1.0 / 6 - z * (1.0 / 120 - z * (1.0 / 5040 - z * (1.0 / 362880 - z * (1.0 / 39916800))));
    return {x.high, x.low - x.high * z * series};
  }
  const Near n = near(x);
  const auto& [s, c, to_1] = n.point;
  const Sum out = sum_in_order(s.high, n.rest);
  const double small = ((out.low + s.low) + c.high * n.low) - (c.high * n.sine_falls_by + s.high * n.cosine_falls_by);
  return {out.high, small - to_1 * n.rest};
}
// Of an angle from 0 to pi / 4.
inline Sum cosine(const Sum& x) {
  const Near n = near(x);
  const auto& [s, c, to_1] = n.point;
  const double small = (c.low - s.high * n.low) + (s.high * n.sine_falls_by - c.high * n.cosine_falls_by);
  return {c.high, small - s.high * n.rest};
}

// --- arc tangent ---

constexpr auto kArcTangentPoints = [] {
  std::array<Sum, kPoints + 1> table{};
  for (std::size_t i = 0; i <= kPoints; ++i) table[i] = to_sum(kArcTangents[i]);
  return table;
}();
constexpr Sum kHalfPiSum = to_sum(static_cast<Signed>(kHalfPi.mantissa >> 1), 2 * kUnit);

// a + p b.
Sum plus_product(const Sum& a, double p, const Sum& b) {
  const Sum pb = product(p, b.high), out = sum(a.high, pb.high);
  return tidy({out.high, out.low + (a.low + (pb.low + p * b.low))});
}

// atan(y / x), of numbers that are not negative and not too far apart.
Sum arc_tangent(const Sum& y, const Sum& x) {
  if (y.high > x.high) {
    const Sum out = arc_tangent(x, y), turned = sum_in_order(kHalfPiSum.high, -out.high);
    return {turned.high, turned.low + (kHalfPiSum.low - out.low)};
  }
  // With a point p near y / x, the rest is atan((y - p x) / (x + p y)).
  const auto i = static_cast<int>(y.high / x.high * kPoints + 0.5);
  const double p = i * (1.0 / kPoints);
  const Sum rest = quotient(plus_product(y, -p, x), plus_product(x, p, y));
  const double z = rest.high * rest.high;
  const double falls_by = rest.high * z * (1.0 / 3 - z * (1.0 / 5 - z * (1.0 / 7 - z * (1.0 / 9))));
  const Sum& point = kArcTangentPoints[static_cast<std::size_t>(i)];
  const Sum out = sum(point.high, rest.high);
  return {out.high, out.low + (point.low + (rest.low - falls_by))};
}

// The root of 1 - x².
Sum other_leg(double x) {
  const Sum minus = sum_in_order(1.0, -x), plus = sum_in_order(1.0, x);
  Sum square = product(minus.high, plus.high);
  square.low += minus.high * plus.low + minus.low * plus.high;
  const double root = std::sqrt(square.high);
  const Sum back = product(root, root);
  return {root, (((square.high - back.high) - back.low) + square.low) / (2.0 * root)};
}

// --- logarithm ---

struct LogSum {
  double factor;
  int above_root;
  Sum log;
};
constexpr double kShort = 0x1p-42;  // multiples of it up to 1100 are added without an error
constexpr auto split = [](Signed log) {
  const Signed high = (log >> (kLogPlaces - 42)) * (Signed{1} << (kLogPlaces - 42));
  return Sum{static_cast<double>(log >> (kLogPlaces - 42)) * kShort, static_cast<double>(log - high) * 0x1p-116};
};
constexpr auto kLogSums = [] {
  std::array<LogSum, 128> table{};
  for (std::size_t j = 0; j < 128; ++j) table[j] = {kLogs[j].factor / 256.0, kLogs[j].above_root, split(kLogs[j].log)};
  return table;
}();
constexpr Sum kLog2Sum = split(static_cast<Signed>(kLog2 >> (128 - kLogPlaces)));

// Of a normal number; `error` becomes a bound of the error.
Sum logarithm(double x, double& error) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto& [factor, above_root, log] = kLogSums[bits >> 45 & 127];
  const double twos = static_cast<double>(static_cast<int>(bits >> 52) - 1023 + above_root);
  const auto mantissa = static_cast<std::int64_t>((bits & 0xFFFFFFFFFFFFF) | std::uint64_t{1} << 52);
  const std::int64_t distance = mantissa * static_cast<std::int64_t>(factor * 256.0) - (std::int64_t{1} << 60);
  const double f = static_cast<double>(distance) * 0x1p-60, z = f * f;
  const double series =
      f * z *
      ((1.0 / 3 - f * (1.0 / 4)) +
       z * ((1.0 / 5 - f * (1.0 / 6)) + z * ((1.0 / 7 - f * (1.0 / 8)) + z * (1.0 / 9 - f * (1.0 / 10)))));
  const Sum out = sum(twos * kLog2Sum.high + log.high, f);
  error = z * 0x1p-52 + std::fabs(out.high) * 0x1p-75;
  return {out.high, (out.low + (twos * kLog2Sum.low + log.low)) + (series - 0.5 * z)};
}

// --- power ---

constexpr auto kPowerSums = [] {
  std::array<Sum, kPoints> table{};
  for (std::size_t i = 0; i < kPoints; ++i) table[i] = to_sum(static_cast<Signed>(kPowersOfTwo[i] >> 1), 2 * kUnit);
  return table;
}();

// exp(x) for x from -700 to 700.
Sum exponential(const Sum& x) {
  constexpr auto first = static_cast<Signed>(kLog2 >> 96);  // 32 bits, so that multiples have no error
  constexpr Sum step{static_cast<double>(first) * 0x1p-32 / kPoints,
                     static_cast<double>((kLog2 >> 1) - (static_cast<Unsigned>(first) << 95)) * kUnit / kPoints};
  const double k = (x.high * (1.0 / step.high) + kMagic) - kMagic;
  const double rest = (x.high - k * step.high) + (x.low - k * step.low);
  const double raised =
      rest * rest * (1.0 / 2 + rest * (1.0 / 6 + rest * (1.0 / 24 + rest * (1.0 / 120 + rest / 720))));
  const auto number = static_cast<int>(k);
  const Sum& point = kPowerSums[static_cast<std::size_t>(number & (kPoints - 1))];
  const double power =
      std::bit_cast<double>(static_cast<std::uint64_t>(number / kPoints - (number % kPoints < 0) + 1023) << 52);
  return power * Sum{point.high, point.low + point.high * (rest + raised)};
}

bool is_normal(double x) { return x >= std::numeric_limits<double>::min() && x < kInfinity; }

}  // namespace

double sin(double x) {
  if (!is_plain(x)) return is_tiny(x) ? x : std::isfinite(x) ? accurate::sin(x) : kNaN;
  const double turns = (x * kPerPi + kMagic) - kMagic;
  const auto [rest, sign] = without(2.0 * turns, x);
  if (rest.high < 0x1p-24) return accurate::sin(x);
  const Sum out = sine(rest);
  return settle(alternate(turns) * sign * out, out.high * 0x1.8p-60, [x] { return accurate::sin(x); });
}

double cos(double x) {
  if (!is_plain(x)) return std::isfinite(x) ? accurate::cos(x) : kNaN;
  const double turns = (x * kPerPi - 0.5 + kMagic) - kMagic;
  const auto [rest, sign] = without(2.0 * turns + 1.0, x);
  if (rest.high < 0x1p-24) return accurate::cos(x);
  const Sum out = sine(rest);
  return settle(-alternate(turns) * sign * out, out.high * 0x1.8p-60, [x] { return accurate::cos(x); });
}

double tan(double x) {
  if (!is_plain(x)) return is_tiny(x) ? x : std::isfinite(x) ? accurate::tan(x) : kNaN;
  const double quarters = (x * (2.0 * kPerPi) + kMagic) - kMagic;
  const auto [rest, sign] = without(quarters, x);
  if (rest.high < 0x1p-24) return accurate::tan(x);
  const Sum legs[] = {tidy(sine(rest)), tidy(cosine(rest))};
  const bool swap = static_cast<int>(quarters) & 1;
  const Sum out = quotient(legs[swap], legs[!swap]);
  return settle(alternate(quarters) * sign * out, out.high * 0x1p-59, [x] { return accurate::tan(x); });
}

double asin(double x) {
  const double size = std::fabs(x);
  if (!(size <= 1.0)) return kNaN;
  if (is_tiny(x)) return x;
  if (size == 1.0) return std::copysign(kHalfPiSum.high, x);
  const Sum out = arc_tangent({size, 0.0}, other_leg(size));
  return settle(std::copysign(1.0, x) * out, out.high * 0x1p-66, [x] { return accurate::asin(x); });
}

double acos(double x) {
  const double size = std::fabs(x);
  if (!(size <= 1.0)) return kNaN;
  if (size == 1.0) return x > 0 ? 0.0 : 2.0 * kHalfPiSum.high;
  if (is_tiny(x)) return accurate::acos(x);
  Sum out = arc_tangent(other_leg(size), {size, 0.0});
  if (x < 0) {
    const Sum turned = sum_in_order(2.0 * kHalfPiSum.high, -out.high);
    out = {turned.high, turned.low + (2.0 * kHalfPiSum.low - out.low)};
  }
  return settle(out, out.high * 0x1p-66, [x] { return accurate::acos(x); });
}

double atan(double x) {
  if (std::isnan(x) || is_tiny(x)) return x;
  const double size = std::fabs(x);
  if (size > 0x1p60) return std::copysign(kHalfPiSum.high, x);
  const Sum out = arc_tangent({size, 0.0}, {1.0, 0.0});
  return settle(std::copysign(1.0, x) * out, out.high * 0x1p-66, [x] { return accurate::atan(x); });
}

double log(double x) {
  if (!is_normal(x)) return x > 0.0 ? (x < 1.0 ? accurate::log(x) : x) : x == 0.0 ? -kInfinity : kNaN;
  double error = 0.0;
  const Sum out = logarithm(x, error);
  return settle(out, error, [x] { return accurate::log(x); });
}

double log10(double x) {
  if (!is_normal(x)) return x > 0.0 ? (x < 1.0 ? accurate::log10(x) : x) : x == 0.0 ? -kInfinity : kNaN;
  constexpr Sum factor = to_sum(static_cast<Signed>(kPerLog10.mantissa >> 1), 0x1p-128);
  double error = 0.0;
  const Sum natural = logarithm(x, error);
  Sum out = product(natural.high, factor.high);
  out.low += natural.high * factor.low + natural.low * factor.high;
  return settle(out, error + std::fabs(out.high) * 0x1p-62, [x] { return accurate::log10(x); });
}

double pow(double x, double y) {
  if (y == 0.0) return 1.0;
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  const double size = std::fabs(x);
  if (std::isinf(y) && size == 1.0) return kNaN;
  const bool whole = std::trunc(y) == y, odd = whole && std::fabs(y) < 0x1p53 && std::trunc(y / 2) != y / 2;
  if (x < 0 && !whole && std::isfinite(x)) return kNaN;
  const double sign = odd && std::signbit(x) ? -1.0 : 1.0;
  if (size == 0.0 || std::isinf(size) || std::isinf(y)) return sign * ((size > 1.0) == (y > 0.0) ? kInfinity : 0.0);
  const auto decide = [size, y] { return accurate::pow(size, y); };
  if (!is_normal(size)) return sign * decide();
  double error = 0.0;
  const Sum log = tidy(logarithm(size, error));
  Sum exponent = product(y, log.high);
  exponent.low += y * log.low;
  if (!(std::fabs(exponent.high) < 700.0) || !(std::fabs(y) < 0x1p500)) return sign * decide();
  const Sum out = exponential(exponent);
  return sign * settle(out, out.high * (error * std::fabs(y) + std::fabs(exponent.high) * 0x1p-80 + 0x1p-60), decide);
}

}  // namespace flexicase::elementary

// Digits come off the front until what is left is less than half the distance to the next float. The language's host
// (Java before 19) does so with limits of its own, which are kept here: whole numbers show digits that rounding would
// drop, powers of two show more digits than they need, and two digits are the least that an exponent follows.
#include "push/digits.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace flexicase::push {
namespace {

__extension__ typedef unsigned __int128 Unsigned;

constexpr int kFractionBits = 52;

// mantissa × 2^(exponent - 52), the mantissa's top bit in place 52; `precision` bits of it may be other than zero.
struct Binary {
  std::uint64_t mantissa;
  int exponent, precision;
};

Binary unpack(double value, bool single) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, kFractionBits + 1));
  --exponent;
  const int smallest = single ? -126 : -1022;
  const int precision = (single ? 24 : kFractionBits + 1) - std::max(0, smallest - exponent);
  return {mantissa, exponent, precision};
}

Unsigned power_of_five(int n) {
  Unsigned power = 1;
  while (n-- > 0) power *= 5;
  return power;
}
int bits_of_five(int n) { return n == 0 ? 0 : static_cast<int>(std::floor(n * 2.321928094887362)) + 1; }

Digits whole(const Binary& value) {
  std::uint64_t number = value.exponent >= kFractionBits ? value.mantissa << (value.exponent - kFractionBits)
                                                         : value.mantissa >> (kFractionBits - value.exponent);
  int dropped = std::max(0, static_cast<int>((value.exponent - value.precision - 1) * 0.30102999566398120));
  std::uint64_t unit = 1;
  for (int i = 0; i < dropped; ++i) unit *= 10;
  number = number / unit + (unit > 1 && number % unit >= unit / 2 ? 1 : 0);
  for (; number % 10 == 0; ++dropped) number /= 10;
  Digits out;
  const auto end = std::to_chars(out.digit, out.digit + sizeof out.digit, number);
  out.count = static_cast<int>(end.ptr - out.digit);
  out.exponent = out.count - 1 + dropped;
  return out;
}

void round_up(Digits& out) {
  int last = out.count - 1;
  while (last > 0 && out.digit[last] == '9') out.digit[last--] = '0';
  if (out.digit[last] == '9') {
    out.digit[last] = '1';
    ++out.exponent;
  } else {
    ++out.digit[last];
  }
}

// Digits of value / scale, both multiplied so that they are whole; `half` is half the distance to the next float.
void develop(Unsigned value, Unsigned scale, Unsigned half, bool closed, Digits& out) {
  const Unsigned tens = scale * 10;
  bool low = false, high = false;
  const auto next = [&] {
    const auto digit = static_cast<int>(value / scale);
    value = value % scale * 10;
    half *= 10;
    low = value < half;
    high = closed ? value + half >= tens : value + half > tens;
    return static_cast<char>('0' + digit);
  };
  const char first = next();
  if (first == '0' && !high) {
    --out.exponent;
  } else {
    out.digit[out.count++] = first;
  }
  if (out.exponent < -3 || out.exponent >= 8) low = high = false;
  while (!low && !high) out.digit[out.count++] = next();
  if (!high) return;
  if (low && 2 * value < tens) return;
  if (low && 2 * value == tens && (out.digit[out.count - 1] - '0') % 2 == 0) return;
  round_up(out);
}

// The fewest digits that identify the number, for numbers too large or small for the way above.
Digits shortest(double value, bool single) {
  char text[40];
  const auto end = single ? std::to_chars(text, text + 40, static_cast<float>(value), std::chars_format::scientific)
                          : std::to_chars(text, text + 40, value, std::chars_format::scientific);
  const char* mark = std::find(text, end.ptr, 'e');
  Digits out;
  out.digit[out.count++] = text[0];
  for (const char* at = text + 2; at < mark; ++at) out.digit[out.count++] = *at;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), end.ptr, out.exponent);
  return out;
}

}  // namespace

Digits digits_of(double value, bool single) {
  const Binary binary = unpack(value, single);
  const int zeros = std::countr_zero(binary.mantissa), used = kFractionBits + 1 - zeros;
  const int decimals = std::max(0, used - binary.exponent - 1);  // binary places behind the point
  if (decimals == 0 && binary.exponent <= 62) return whole(binary);

  const double first = std::ldexp(static_cast<double>(binary.mantissa), -kFractionBits);
  Digits out;
  out.exponent = static_cast<int>(
      std::floor((first - 1.5) * 0.289529654 + 0.176091259 + static_cast<double>(binary.exponent) * 0.301029995663981));
  const int value5 = std::max(0, -out.exponent), scale5 = std::max(0, out.exponent);
  int value2 = value5 + decimals + binary.exponent, scale2 = scale5 + decimals, half2 = value2 - binary.precision;
  value2 -= used - 1;
  const int common = std::min(value2, scale2);
  value2 -= common;
  scale2 -= common;
  half2 -= common + (used == 1 ? 1 : 0);
  if (half2 < 0) {
    value2 -= half2;
    scale2 -= half2;
    half2 = 0;
  }
  const int value_bits = used + value2 + bits_of_five(value5), scale_bits = scale2 + 1 + bits_of_five(scale5 + 1);
  if (value_bits > 120 || scale_bits > 120) return shortest(value, single);
  develop((static_cast<Unsigned>(binary.mantissa >> zeros) * power_of_five(value5)) << value2,
          power_of_five(scale5) << scale2, power_of_five(value5) << half2, value_bits >= 64 || scale_bits >= 64, out);
  return out;
}

}  // namespace flexicase::push

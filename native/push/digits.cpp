// Digits come off the front until what is left is less than half the distance to the next float. The language's host
// (Java before 19) does so with limits of its own, which are kept here: whole numbers show digits that rounding would
// drop, powers of two show more digits than they need, and two digits are the least that an exponent follows.
#include <locale.h>

#include "push/text.hpp"
#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>

namespace flexicase::push {
namespace {

__extension__ typedef unsigned __int128 Unsigned;

constexpr int kFractionBits = 52;

// A whole number of up to 1024 bits: ten times the longest that the digits of a double need.
struct Big {
  std::uint32_t word[32] = {};  // the highest first

  explicit Big(std::uint64_t value) {
    word[30] = static_cast<std::uint32_t>(value >> 32);
    word[31] = static_cast<std::uint32_t>(value);
  }
  std::strong_ordering operator<=>(const Big&) const = default;
  Big& operator*=(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (auto at = std::rbegin(word); at != std::rend(word); ++at) {
      carry += std::uint64_t{*at} * factor;
      *at = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return *this;
  }
  Big& operator<<=(int bits) {
    for (; bits >= 31; bits -= 31) *this *= 1u << 31;
    return *this *= 1u << bits;
  }
  Big& operator-=(const Big& other) {
    std::int64_t borrow = 0;
    for (int i = 31; i >= 0; --i) {
      borrow += std::int64_t{word[i]} - std::int64_t{other.word[i]};
      word[i] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
    return *this;
  }
  friend Big operator+(Big a, const Big& b) {
    std::uint64_t carry = 0;
    for (int i = 31; i >= 0; --i) {
      carry += std::uint64_t{a.word[i]} + b.word[i];
      a.word[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return a;
  }
};

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

// first × 5^fives × 2^twos.
template <class Number>
Number product(std::uint64_t first, int fives, int twos) {
  Number out{first};
  while (fives-- > 0) out *= 5;
  out <<= twos;
  return out;
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
template <class Number>
void develop(Number value, const Number& scale, Number half, bool closed, Digits& out) {
  Number tens = scale;
  tens *= 10;
  bool low = false, high = false;
  const auto next = [&] {
    char digit = '0';
    for (; value >= scale; value -= scale) ++digit;
    value *= 10;
    half *= 10;
    low = value < half;
    high = closed ? value + half >= tens : value + half > tens;
    return digit;
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
  const Number twice = value + value;
  if (low && twice < tens) return;
  if (low && twice == tens && (out.digit[out.count - 1] - '0') % 2 == 0) return;
  round_up(out);
}

// Numbers are written with a point, whatever the locale of the program; one locale serves all threads.
class WithPoint {
 public:
  WithPoint() : before_(uselocale(plain())) {}
  ~WithPoint() { uselocale(before_); }
  WithPoint(const WithPoint&) = delete;
  WithPoint& operator=(const WithPoint&) = delete;

 private:
  static locale_t plain() {
    static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
    if (!made) throw std::bad_alloc();
    return made;
  }
  locale_t before_;
};

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
  const bool closed = value_bits >= 64 || scale_bits >= 64;
  const auto run = [&]<class Number>(Number scale) {
    develop(product<Number>(binary.mantissa >> zeros, value5, value2), scale, product<Number>(1, value5, half2), closed,
            out);
  };
  if (value_bits > 120 || scale_bits > 120) {
    run(product<Big>(1, scale5, scale2));
  } else {
    run(product<Unsigned>(1, scale5, scale2));
  }
  return out;
}

float single_of(const char* text) {
  const WithPoint point;
  return std::strtof(text, nullptr);
}
double double_of(const char* text) {
  const WithPoint point;
  return std::strtod(text, nullptr);
}

}  // namespace flexicase::push

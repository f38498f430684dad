// Tables of elementary functions, computed by the compiler.
#pragma once

#include <array>

#include "push/scaled.hpp"

namespace flexicase::elementary {

constexpr int kPoints = 128;  // of a table, from 0 to 1

constexpr Unsigned kOne = Unsigned{1} << 127;  // with 127 binary places
constexpr Unsigned kLog2 = join(0xB17217F7D1CF79AB, 0xC9E3B39803F2F6AF);
constexpr Scaled kHalfPi{join(0xC90FDAA22168C234, 0xC4C6628B80DC1CD1), -127};
constexpr Scaled kPi{kHalfPi.mantissa, -126};
constexpr Scaled kPerLog2{join(0xB8AA3B295C17F0BB, 0xBE87FED0691D3E88), -127};   // 1 / log 2
constexpr Scaled kPerLog10{join(0xDE5BD8A937287195, 0x355BAAAFAD33DC32), -129};  // 1 / log 10

// At i / kPoints, up to pi / 2; with 127 binary places.
struct SineAndCosine {
  Unsigned sine, cosine;
};
constexpr auto kCircle = [] {
  std::array<SineAndCosine, 202> table{};
  for (unsigned i = 0; i < table.size(); ++i) {
    Unsigned term = Unsigned{1} << 119;
    for (unsigned k = 0; term; ++k, term = term * i / (kPoints * k)) {
      Unsigned& sum = k % 2 ? table[i].sine : table[i].cosine;
      sum = k % 4 < 2 ? sum + term : sum - term;
    }
    table[i].sine <<= 8;
    table[i].cosine <<= 8;
  }
  return table;
}();

constexpr auto kArcTangents = [] {
  std::array<Unsigned, kPoints + 1> table{};  // with 127 binary places
  Unsigned sum = 0;                           // of the steps from point to point
  for (unsigned i = 1; i <= kPoints; ++i) {
    const unsigned n = kPoints * kPoints + i * (i - 1);  // a step is atan(kPoints / n)
    Unsigned power = (Unsigned{kPoints} << 120) / n;
    for (unsigned k = 1; power; k += 2, power = power / n * (kPoints * kPoints) / n) {
      sum = k % 4 == 1 ? sum + power / k : sum - power / k;
    }
    table[i] = sum << 7;
  }
  return table;
}();

constexpr int kLogPlaces = 116;
struct LogPoint {
  std::uint32_t factor;  // about 256 / m, for a mantissa m from 1 to 2
  bool above_root;       // m / 2 is nearer to 1 than m is
  Signed log;            // of 256 / factor, or of half of that; with kLogPlaces binary places
};
constexpr auto kLogs = [] {
  std::array<LogPoint, 128> table{};
  for (unsigned j = 0; j < 128; ++j) {
    LogPoint& at = table[j];
    at.above_root = j >= 53;
    at.factor = j == 0 ? 256 : j == 127 ? 128 : (65536 + (257 + 2 * j) / 2) / (257 + 2 * j);
    // log(p / q) = 2 (t + t³/3 + t⁵/5 + …) with t = (p - q) / (p + q).
    const unsigned p = at.above_root ? at.factor : 256, q = at.above_root ? 128 : at.factor;
    Unsigned power = (Unsigned{p - q} << 118) / (p + q), sum = 0;
    for (unsigned k = 1; power; k += 2, power = power * (p - q) / (p + q) * (p - q) / (p + q)) sum += power / k;
    at.log = static_cast<Signed>(sum >> (118 - kLogPlaces - 1)) * (at.above_root ? -1 : 1);
  }
  return table;
}();

constexpr auto kPowersOfTwo = [] {
  std::array<Unsigned, kPoints> table{};  // 2^(i / kPoints) with 127 binary places
  for (unsigned i = 0; i < kPoints; ++i) {
    const Unsigned x = kLog2 / kPoints * i;
    Unsigned term = kOne >> 1;
    for (unsigned k = 1; term; term = times(term, x) / k++) table[i] += term;
    table[i] *= 2;
  }
  return table;
}();

}  // namespace flexicase::elementary

// The decimal digits that stand for a float, and the float that digits stand for; the locale has no part in either.
#pragma once

namespace flexicase::push {

// d1.d2d3… × 10^exponent.
struct Digits {
  char digit[24];
  int count = 0;
  int exponent = 0;
};

// The digits of a finite number above zero, as a single or as a double.
Digits digits_of(double value, bool single);

// The nearest float to a decimal or hexadecimal number.
float single_of(const char* text);
double double_of(const char* text);

}  // namespace flexicase::push

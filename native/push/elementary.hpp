// Elementary functions from integer arithmetic: the same bits with every compiler, C library and processor. Results are
// within 0.5001 units in the last place of the exact value, so nearly always the nearest double.
#pragma once

namespace flexicase::elementary {

double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double log(double x);
double log10(double x);
// As Java has it: a base of one or minus one with an infinite exponent, or any base with an exponent that is NaN, is
// NaN.
double pow(double x, double y);

}  // namespace flexicase::elementary

// The same functions with 128 bits of precision, rounded once. Arguments that are not finite or outside of a
// function's domain are left to elementary.cpp, which asks for these results where its own are not certain.
namespace flexicase::elementary::accurate {

double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double log(double x);
double log10(double x);
double pow(double x, double y);

}  // namespace flexicase::elementary::accurate

// Elementary functions with 128 bits of precision, rounded once. Arguments that are not finite or outside of a
// function's domain are left to elementary.cpp, which asks for these results where its own are not certain.
#pragma once

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

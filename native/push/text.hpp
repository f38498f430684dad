// The text of values, and values from text.
#pragma once

#include <optional>
#include <string>

#include "push/machine.hpp"

namespace flexicase::push {

// A float as the language writes it: shortest digits that identify it among doubles, or singles.
std::string text_of(double value, bool single);
// A float rounded to some decimals, ties upward, as the language does it: through a whole number of 64 bits.
double rounded(double value, int decimals);
// A float as printing writes it: rounded to ten decimals first.
std::string printed(double value);
// The value of a text that is a number, in single and in double precision.
std::optional<float> read_single(const Item& text);
std::optional<double> read_double(const Item& text);
// Appends the readable form of an item; false as soon as `out` is longer than `limit`.
bool write_readable(Machine& m, const Item& item, std::vector<char16_t>& out, std::size_t limit);

Item copy_text(Machine& m, const std::string& ascii);

}  // namespace flexicase::push

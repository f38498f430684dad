// The text of values, and values from text.
#pragma once

#include <optional>
#include <string>

#include "push/machine.hpp"

namespace flexicase::push {

// A float as the language writes it: shortest digits that identify it among doubles, or singles.
std::string text_of(double value, bool single);
// A float as printing writes it: rounded to ten decimals first.
std::string printed(double value);
// The single-precision value of a text, if it is one.
std::optional<float> read_single(const Item& text);
// Appends the readable form of an item; false as soon as `out` is longer than `limit`.
bool write_readable(Machine& m, const Item& item, std::vector<char16_t>& out, std::size_t limit);

Item copy_text(Machine& m, const std::string& ascii);

}  // namespace flexicase::push

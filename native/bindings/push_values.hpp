// Push values to and from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "push/genome.hpp"
#include "push/machine.hpp"

namespace push_values {

// How deeply code from Python may be nested.
inline constexpr int kMaxDepth = 10'000;

// The Python classes of symbols, characters, single-precision floats and integers that print with an N.
void set_types(nanobind::object symbol, nanobind::object character, nanobind::object single, nanobind::object big);
// The item of a value that lies within `depth` parentheses already.
flexicase::push::Item from_python(nanobind::handle value, flexicase::push::Arena& arena, int depth = 0);
nanobind::object to_python(const flexicase::push::Item& item);
nanobind::object text_to_python(const char16_t* text, std::size_t length);

// The exception of an instruction that failed; None if there is none.
nanobind::object error_to_python(std::exception_ptr failure);

}  // namespace push_values

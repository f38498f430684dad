// How far the answer of a run is from the right one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "push/machine.hpp"

namespace flexicase::push {

enum class Measure {
  // Of values.
  mismatch,
  absolute,
  rounded,
  levenshtein,
  vector_difference,
  rounded_answer,
  rounded_text,
  // Of what a text says.
  last_character,
  letter,
  number,
  last_integer,
  integer_after,
  decimal_after,
  newlines,
  difference_lines,
  integer_lines,
  integer_line_values,
  words_per_line,
  // By the caller, from the answer.
  custom
};

inline constexpr const char* kMeasureNames[] = {
    "mismatch",      "absolute",       "rounded",          "levenshtein",   "vector_difference",   "rounded_answer",
    "rounded_text",  "last_character", "letter",           "number",        "last_integer",        "integer_after",
    "decimal_after", "newlines",       "difference_lines", "integer_lines", "integer_line_values", "words_per_line",
    "custom"};

// Where an answer is read and how its error is measured.
struct Question {
  int stack = kInteger;  // kStacks: the printed text; above: an output slot
  Measure measure = Measure::absolute;
  double penalty = 0;      // of a run without an answer
  double per_element = 0;  // of elements too many or too few (vector_difference)
  int decimals = 4;        // that rounding keeps
  std::u16string label{};  // text around what is measured (letter) or before it (…_after)
};

// The item the question is about; null if there is none.
const Item* answer(Machine& m, const Question& question, Item& place);
// What an error can be measured on: the stack, and the target, of which `expected` says what it must be.
bool fits_stack(const Question& question);
bool fits_target(Measure measure, const Item& target);
const char* expected(Measure measure);
// Always finite: what cannot be measured, such as NaN, gets the penalty.
double error_of(Machine& m, const Question& question, const Item* answer, const Item& target);

// Measures of texts; see text_measures.cpp.
double text_error(const Question& question, std::u16string_view text, const Item& target);

// Insertions, deletions and substitutions between two texts; the second one should be the shorter.
std::uint32_t levenshtein(Machine& m, std::u16string_view text, std::u16string_view pattern);
// The same between two vectors.
std::uint32_t levenshtein(Machine& m, const Item& vector, const Item& pattern);

}  // namespace flexicase::push

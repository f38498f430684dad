#include "push/measures.hpp"

#include <cmath>

#include "push/text.hpp"

namespace flexicase::push {
namespace {

double value_of(const Item& item) { return item.kind == Kind::real ? item.real : static_cast<double>(item.number); }
bool is_number(const Item& item) { return item.kind == Kind::integer || item.kind == Kind::real; }
std::u16string_view view(const Item& item) { return {item.text, item.length}; }

double vector_difference(const Item& a, const Item& b, double per_element) {
  const std::uint32_t common = std::min(a.length, b.length);
  double total = per_element * (std::max(a.length, b.length) - common);
  for (std::uint32_t i = 0; i < common; ++i) total += std::fabs(value_of(a.items[i]) - value_of(b.items[i]));
  return total;
}

// Edits between the target and the text of the rounded answer, or of the marker for no answer.
double rounded_text(Machine& m, const Item* answer, int decimals, const Item& target) {
  const std::string text =
      answer ? std::string(text_of(rounded(value_of(*answer), decimals), false)) : ":no-stack-item";
  return levenshtein(m, std::u16string(text.begin(), text.end()), view(target));
}

bool is_of_numbers(const Item& vector) {
  return vector.kind == Kind::vector && (!vector.length || is_number(vector.items[0]));
}

bool is_of_integers(const Item& vector) {
  return vector.kind == Kind::vector && (!vector.length || vector.items[0].kind == Kind::integer);
}

// An output slot holds values of any kind.
bool fits_answer(Measure measure, const Item& answer) {
  switch (measure) {
    case Measure::mismatch:
    case Measure::custom: return true;
    case Measure::absolute:
    case Measure::rounded:
    case Measure::rounded_answer:
    case Measure::rounded_text: return is_number(answer);
    case Measure::levenshtein: return answer.kind == Kind::string || answer.kind == Kind::vector;
    case Measure::vector_difference: return is_of_numbers(answer);
    default: return answer.kind == Kind::string;
  }
}

double measured(Machine& m, const Question& question, const Item& answer, const Item& target) {
  switch (question.measure) {
    case Measure::custom: return 0;
    case Measure::mismatch: return equal(m, answer, target) ? 0 : 1;
    case Measure::absolute: return std::fabs(value_of(answer) - value_of(target));
    case Measure::rounded: {
      const double error = std::fabs(value_of(answer) - value_of(target));
      return std::isnan(error) ? error : rounded(error, question.decimals);
    }
    case Measure::rounded_answer: {
      const double error = std::fabs(rounded(value_of(answer), question.decimals) - value_of(target));
      return static_cast<double>(static_cast<float>(error));
    }
    case Measure::levenshtein:
      if (answer.kind != target.kind) return question.penalty;
      return answer.kind == Kind::string ? levenshtein(m, view(answer), view(target)) : levenshtein(m, answer, target);
    case Measure::vector_difference: return vector_difference(answer, target, question.per_element);
    default: return text_error(question, view(answer), target);
  }
}

}  // namespace

const Item* answer(Machine& m, const Question& question, Item& place) {
  if (question.stack == kStacks) {
    place = string(m.output.data(), static_cast<std::uint32_t>(m.output.size()));
    return &place;
  }
  if (question.stack > kStacks) {
    const Item& slot = m.slots[question.stack - kStacks - 1];
    return slot.kind != Kind::nil && fits_answer(question.measure, slot) ? &slot : nullptr;
  }
  Stack& stack = m.stacks[question.stack];
  return stack.size ? &stack.top() : nullptr;
}

bool fits_stack(const Question& question) {
  if (question.stack > kStacks) return true;
  const bool text = question.stack == kStacks || question.stack == kString;
  const bool number = question.stack == kInteger || question.stack == kFloat;
  switch (question.measure) {
    case Measure::mismatch:
    case Measure::custom: return true;
    case Measure::absolute:
    case Measure::rounded:
    case Measure::rounded_answer:
    case Measure::rounded_text: return number;
    case Measure::levenshtein: return text || question.stack >= kVectorInteger;
    case Measure::vector_difference: return question.stack == kVectorInteger || question.stack == kVectorFloat;
    default: return text;
  }
}

bool fits_target(Measure measure, const Item& target) {
  switch (measure) {
    case Measure::mismatch:
    case Measure::custom: return true;
    case Measure::levenshtein: return target.kind == Kind::string || target.kind == Kind::vector;
    case Measure::vector_difference: return is_of_numbers(target);
    case Measure::rounded_text: return target.kind == Kind::string;
    case Measure::last_character:
    case Measure::letter: return target.kind == Kind::string && target.length > 0;
    case Measure::integer_line_values: return is_of_integers(target);
    case Measure::words_per_line: return is_of_integers(target) && target.length == 2;
    default: return is_number(target);
  }
}

const char* expected(Measure measure) {
  switch (measure) {
    case Measure::levenshtein: return "a string or a vector";
    case Measure::vector_difference: return "a vector of numbers";
    case Measure::rounded_text: return "a string";
    case Measure::last_character:
    case Measure::letter: return "a string that is not empty";
    case Measure::integer_line_values: return "a vector of integers";
    case Measure::words_per_line: return "a vector of two integers";
    default: return "a number";
  }
}

double error_of(Machine& m, const Question& question, const Item* answer, const Item& target) {
  if (question.measure == Measure::rounded_text) return rounded_text(m, answer, question.decimals, target);
  if (!answer) return question.penalty;
  const double error = measured(m, question, *answer, target);
  return std::isfinite(error) ? error : question.penalty;
}

}  // namespace flexicase::push

// The text of values, values from text, and the characters of texts.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "push/machine.hpp"

namespace flexicase::push {

// The text of one number, in its own place.
class NumberText {
 public:
  void add(char c) { characters_[size_++] = c; }
  void add(std::string_view text) {
    for (const char c : text) add(c);
  }
  void add(std::int64_t number);
  operator std::string_view() const { return {characters_.data(), size_}; }

 private:
  std::array<char, 48> characters_;
  std::size_t size_ = 0;
};

NumberText text_of(std::int64_t value);
// A float as the language writes it: digits that identify it among doubles, or singles.
NumberText text_of(double value, bool single);
// A float rounded to some decimals, ties upward, as the language does it: through a whole number of 64 bits.
double rounded(double value, int decimals);
// A float as printing writes it: rounded to ten decimals first.
NumberText printed(double value);
// The value of a text that is a number, in single and in double precision.
std::optional<float> read_single(Machine& m, const Item& text);
std::optional<double> read_double(const Item& text);
// Appends the readable form of an item; false as soon as `out` is longer than `limit`.
bool write_readable(Machine& m, const Item& item, std::vector<char16_t>& out, std::size_t limit);

// Where a text has another first, from `at` on; npos if nowhere.
std::size_t find(Machine& m, std::u16string_view text, std::u16string_view other, std::size_t at = 0);

Item copy_text(Machine& m, std::string_view ascii);

// The decimal digits of a float, whatever the locale: d1.d2d3… × 10^exponent.
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

// Classes and cases of UTF-16 characters.
bool is_letter(char16_t c);
bool is_decimal_digit(char16_t c);
bool is_whitespace(char16_t c);
// 0 to 9, or -1 for what is no digit.
int digit_value(char16_t c);
void append_upper(std::u16string_view text, std::vector<char16_t>& out);
void append_lower(std::u16string_view text, std::vector<char16_t>& out);

}  // namespace flexicase::push

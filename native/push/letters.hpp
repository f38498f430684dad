// Classes and cases of UTF-16 characters.
#pragma once

#include <string_view>
#include <vector>

namespace flexicase::push {

bool is_letter(char16_t c);
bool is_decimal_digit(char16_t c);
bool is_whitespace(char16_t c);
// 0 to 9, or -1 for what is no digit.
int digit_value(char16_t c);
void append_upper(std::u16string_view text, std::vector<char16_t>& out);
void append_lower(std::u16string_view text, std::vector<char16_t>& out);

}  // namespace flexicase::push

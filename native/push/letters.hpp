// Classes and cases of UTF-16 characters.
#pragma once

#include <string>
#include <string_view>

namespace flexicase::push {

bool is_letter(char16_t c);
bool is_decimal_digit(char16_t c);
bool is_whitespace(char16_t c);
std::u16string upper(std::u16string_view text);
std::u16string lower(std::u16string_view text);

}  // namespace flexicase::push

#include "push/letters.hpp"

#include <algorithm>
#include <cstddef>

namespace flexicase::push {
namespace {

struct Range {
  char16_t first, last;
};
// Characters first, first + stride, …, last change by `shift`.
struct CaseRange {
  char16_t first, last;
  int stride, shift;
};
struct Expansion {
  char16_t from;
  const char16_t* to;
};

#include "push/letter_tables.inl"

template <std::size_t N>
bool within(const Range (&ranges)[N], char16_t c) {
  const Range* after = std::upper_bound(ranges, ranges + N, c, [](char16_t x, const Range& r) { return x < r.first; });
  return after != ranges && c <= after[-1].last;
}

template <std::size_t N>
char16_t shifted(const CaseRange (&ranges)[N], char16_t c) {
  for (const CaseRange& r : ranges) {
    if (c >= r.first && c <= r.last && (c - r.first) % r.stride == 0) return static_cast<char16_t>(c + r.shift);
  }
  return c;
}

bool is_cased(char16_t c) { return shifted(kToUpper, c) != c || shifted(kToLower, c) != c; }

// A capital sigma at the end of a word has a lower case of its own.
bool ends_word(std::u16string_view text, std::size_t at) {
  return at > 0 && is_cased(text[at - 1]) && (at + 1 == text.size() || !is_cased(text[at + 1]));
}

}  // namespace

bool is_letter(char16_t c) { return within(kLetters, c); }
bool is_decimal_digit(char16_t c) { return within(kDigits, c); }
bool is_whitespace(char16_t c) {
  return c == 0x20 || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F) || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A && c != 0x2007) || c == 0x2028 || c == 0x2029 || c == 0x205F || c == 0x3000;
}

std::u16string upper(std::u16string_view text) {
  std::u16string out;
  for (const char16_t c : text) {
    if (c < 128) {
      out += c >= u'a' && c <= u'z' ? static_cast<char16_t>(c - 32) : c;
      continue;
    }
    const Expansion* special = std::find_if(std::begin(kUpperExpansions), std::end(kUpperExpansions),
                                            [c](const Expansion& e) { return e.from == c; });
    if (special != std::end(kUpperExpansions)) {
      out += special->to;
    } else {
      out += shifted(kToUpper, c);
    }
  }
  return out;
}

std::u16string lower(std::u16string_view text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char16_t c = text[i];
    if (c < 128) {
      out += c >= u'A' && c <= u'Z' ? static_cast<char16_t>(c + 32) : c;
    } else if (c == 0x0130) {
      out += u"i\u0307";
    } else if (c == 0x03A3 && ends_word(text, i)) {
      out += u'\u03C2';
    } else {
      out += shifted(kToLower, c);
    }
  }
  return out;
}

}  // namespace flexicase::push

#include <algorithm>
#include <cstddef>

#include "push/text.hpp"

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

// The range that a character is in, or null.
template <std::size_t N>
const Range* range_of(const Range (&ranges)[N], char16_t c) {
  const Range* after = std::upper_bound(ranges, ranges + N, c, [](char16_t x, const Range& r) { return x < r.first; });
  return after != ranges && c <= after[-1].last ? after - 1 : nullptr;
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

bool is_letter(char16_t c) { return range_of(kLetters, c); }
bool is_decimal_digit(char16_t c) { return range_of(kDigits, c); }
int digit_value(char16_t c) {
  const Range* range = range_of(kDigits, c);
  return range ? (c - range->first) % 10 : -1;
}
bool is_whitespace(char16_t c) {
  return c == 0x20 || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F) || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A && c != 0x2007) || c == 0x2028 || c == 0x2029 || c == 0x205F || c == 0x3000;
}

void append_upper(std::u16string_view text, std::vector<char16_t>& out) {
  for (const char16_t c : text) {
    if (c < 128) {
      out.push_back(c >= u'a' && c <= u'z' ? static_cast<char16_t>(c - 32) : c);
      continue;
    }
    const Expansion* special = std::find_if(std::begin(kUpperExpansions), std::end(kUpperExpansions),
                                            [c](const Expansion& e) { return e.from == c; });
    if (special != std::end(kUpperExpansions)) {
      for (const char16_t* to = special->to; *to; ++to) out.push_back(*to);
    } else {
      out.push_back(shifted(kToUpper, c));
    }
  }
}

void append_lower(std::u16string_view text, std::vector<char16_t>& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char16_t c = text[i];
    if (c < 128) {
      out.push_back(c >= u'A' && c <= u'Z' ? static_cast<char16_t>(c + 32) : c);
    } else if (c == 0x0130) {
      out.insert(out.end(), {u'i', u'\u0307'});
    } else if (c == 0x03A3 && ends_word(text, i)) {
      out.push_back(u'\u03C2');
    } else {
      out.push_back(shifted(kToLower, c));
    }
  }
}

}  // namespace flexicase::push

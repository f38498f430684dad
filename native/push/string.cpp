// Instructions of the char stack, and those of the string stack that read strings.
#include <algorithm>
#include <string_view>

#include "push/common.hpp"
#include "push/text.hpp"

namespace flexicase::push {
namespace {

Stack& strings(Machine& m) { return m.stacks[kString]; }
Stack& chars(Machine& m) { return m.stacks[kChar]; }
Stack& integers(Machine& m) { return m.stacks[kInteger]; }
void answer(Machine& m, bool value) { m.stacks[kBoolean].push(boolean(value)); }
std::u16string_view view(const Item& s) { return {s.text, s.length}; }
Item slice(const Item& s, std::int64_t begin, std::int64_t end) {
  return string(s.text + begin, static_cast<std::uint32_t>(end - begin));
}

void allfromstring(Machine& m) {
  if (!strings(m).size) return;
  const Item s = strings(m).pop();
  m.spend(s.length);
  Item* place = chars(m).extend(s.length);
  for (std::uint32_t i = 0; i < s.length; ++i) place[i] = character(s.text[s.length - 1 - i]);
}
void char_frominteger(Machine& m) {
  if (integers(m).size) chars(m).push(character(static_cast<char16_t>(floored_mod(integers(m).pop().number, 128))));
}
void char_fromfloat(Machine& m) {
  if (!m.stacks[kFloat].size) return;
  const double value = std::clamp(m.stacks[kFloat].pop().real, -9e18, 9e18);
  const std::int64_t whole = value == value ? static_cast<std::int64_t>(value) : 0;
  chars(m).push(character(static_cast<char16_t>(floored_mod(whole, 128))));
}
template <bool (*Test)(char16_t)>
void char_test(Machine& m) {
  if (chars(m).size) answer(m, Test(static_cast<char16_t>(chars(m).pop().number)));
}
bool is_blank(char16_t c) { return c == u'\n' || c == u' ' || c == u'\t'; }
void char_uppercase(Machine& m) {
  if (chars(m).size && chars(m).top().number >= 'a' && chars(m).top().number <= 'z') chars(m).top().number -= 32;
}
void char_lowercase(Machine& m) {
  if (chars(m).size && chars(m).top().number >= 'A' && chars(m).top().number <= 'Z') chars(m).top().number += 32;
}

void string_frominteger(Machine& m) {
  if (integers(m).size) strings(m).push(copy_text(m, text_of(integers(m).pop().number)));
}
void string_fromfloat(Machine& m) {
  if (!m.stacks[kFloat].size) return;
  const Item value = m.stacks[kFloat].pop();
  strings(m).push(copy_text(m, text_of(value.real, value.flag)));
}
void string_fromboolean(Machine& m) {
  if (m.stacks[kBoolean].size) strings(m).push(copy_text(m, m.stacks[kBoolean].pop().number ? "true" : "false"));
}
void string_fromchar(Machine& m) {
  if (!chars(m).size) return;
  auto* text = m.arena.take<char16_t>(1);
  *text = static_cast<char16_t>(chars(m).pop().number);
  strings(m).push(string(text, 1));
}
void take(Machine& m) {
  Stack& s = strings(m);
  if (!s.size || !integers(m).size) return;
  s.top() = slice(s.top(), 0, clamp_index(integers(m).pop().number, 0, s.top().length));
}
void substring(Machine& m) {
  Stack& s = strings(m);
  if (!s.size || integers(m).size < 2) return;
  const std::int64_t end = integers(m).pop().number, begin = integers(m).pop().number, length = s.top().length;
  const std::int64_t i = std::min(length, std::max<std::int64_t>(0, begin));
  s.top() = slice(s.top(), i, std::min(length, std::max(i, end)));
}
void first(Machine& m) {
  if (strings(m).size && strings(m).top().length) chars(m).push(character(strings(m).pop().text[0]));
}
void last(Machine& m) {
  if (!strings(m).size || !strings(m).top().length) return;
  const Item s = strings(m).pop();
  chars(m).push(character(s.text[s.length - 1]));
}
void nth(Machine& m) {
  if (!strings(m).size || !strings(m).top().length || !integers(m).size) return;
  const Item s = strings(m).pop();
  chars(m).push(character(s.text[floored_mod(integers(m).pop().number, s.length)]));
}
void rest(Machine& m) {
  Stack& s = strings(m);
  if (s.size && s.top().length) s.top() = slice(s.top(), 1, s.top().length);
}
void butlast(Machine& m) {
  Stack& s = strings(m);
  if (s.size && s.top().length) s.top() = slice(s.top(), 0, s.top().length - 1);
}
void length(Machine& m) {
  if (strings(m).size) integers(m).push(integer(strings(m).pop().length));
}
void parse_to_chars(Machine& m) {
  if (!strings(m).size) return;
  const Item s = strings(m).pop();
  m.spend(2 * std::int64_t{s.length});
  for (std::uint32_t i = s.length; i-- > 0;) strings(m).push(slice(s, i, i + 1));
}
bool is_separator(char16_t c) { return c == u' ' || (c >= 9 && c <= 13); }
void split(Machine& m) {
  if (!strings(m).size) return;
  const Item s = strings(m).pop();
  m.spend(2 * std::int64_t{s.length});
  std::int64_t begin = 0, end = s.length;
  while (begin < end && is_whitespace(s.text[begin])) ++begin;
  while (end > begin && is_whitespace(s.text[end - 1])) --end;
  while (end > begin) {
    std::int64_t start = end;
    while (start > begin && !is_separator(s.text[start - 1])) --start;
    if (start < end) strings(m).push(slice(s, start, end));
    end = std::max(begin, start - 1);
  }
}
void emptystring(Machine& m) {
  if (strings(m).size) answer(m, strings(m).pop().length == 0);
}
void includes(Machine& m) {
  if (strings(m).size < 2) return;
  const Item x = strings(m).pop(), y = strings(m).pop();
  answer(m, find(m, view(y), view(x)) != std::u16string_view::npos);
}
void indexof(Machine& m) {
  Stack& s = strings(m);
  if (s.size < 2) return;
  const std::size_t at = find(m, view(s.top(1)), view(s.top(0)));
  if (at == std::u16string_view::npos) return;
  s.drop(2);
  integers(m).push(integer(static_cast<std::int64_t>(at)));
}
template <class F>
void with_char(Machine& m, F f) {
  if (!strings(m).size || !chars(m).size) return;
  const Item s = strings(m).pop();
  m.spend(s.length);
  f(m, view(s), static_cast<char16_t>(chars(m).pop().number));
}
void containschar(Machine& m) {
  with_char(m, [](Machine& on, auto s, char16_t c) { answer(on, s.find(c) != s.npos); });
}
void indexofchar(Machine& m) {
  with_char(m, [](Machine& on, auto s, char16_t c) {
    const std::size_t at = s.find(c);
    integers(on).push(integer(at == s.npos ? -1 : static_cast<std::int64_t>(at)));
  });
}
void occurrencesofchar(Machine& m) {
  with_char(m, [](Machine& on, auto s, char16_t c) {
    integers(on).push(integer(static_cast<std::int64_t>(std::count(s.begin(), s.end(), c))));
  });
}

}  // namespace

void add_char(Table& t) {
  add_common<kChar>(t);
  t.add("char_allfromstring", {"char", "string"}, allfromstring);
  t.add("char_frominteger", {"char", "integer"}, char_frominteger);
  t.add("char_fromfloat", {"char", "float"}, char_fromfloat);
  t.add("char_isletter", {"char", "boolean"}, char_test<is_letter>);
  t.add("char_isdigit", {"char", "boolean"}, char_test<is_decimal_digit>);
  t.add("char_iswhitespace", {"char", "boolean"}, char_test<is_blank>);
  t.add("char_uppercase", {"char"}, char_uppercase, 0, kLater);
  t.add("char_lowercase", {"char"}, char_lowercase, 0, kLater);
}

void add_string(Table& t) {
  add_common<kString>(t);
  t.add("string_frominteger", {"string", "integer"}, string_frominteger);
  t.add("string_fromfloat", {"string", "float"}, string_fromfloat);
  t.add("string_fromboolean", {"string", "boolean"}, string_fromboolean);
  t.add("string_fromchar", {"string", "char"}, string_fromchar);
  t.add("string_take", {"string", "integer"}, take);
  t.add("string_substring", {"string", "integer"}, substring);
  t.add("string_first", {"string", "char"}, first);
  t.add("string_last", {"string", "char"}, last);
  t.add("string_nth", {"string", "char", "integer"}, nth);
  t.add("string_rest", {"string"}, rest);
  t.add("string_butlast", {"string"}, butlast);
  t.add("string_length", {"string", "integer"}, length);
  t.add("string_parse_to_chars", {"string"}, parse_to_chars);
  t.add("string_split", {"string"}, split);
  t.add("string_emptystring", {"string", "boolean"}, emptystring);
  t.add("string_contains", {"string", "boolean"}, includes, 0, kW | kM | kP);
  t.add("string_includes", {"string", "boolean"}, includes, 0, kLater);
  t.add("string_indexof", {"string", "integer"}, indexof, 0, kLater);
  t.add("string_containschar", {"string", "boolean", "char"}, containschar);
  t.add("string_indexofchar", {"string", "integer", "char"}, indexofchar);
  t.add("string_occurrencesofchar", {"string", "integer", "char"}, occurrencesofchar);
}

}  // namespace flexicase::push

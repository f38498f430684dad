// Instructions of the string stack that make new strings.
#include <algorithm>
#include <string_view>

#include "push/table.hpp"
#include "push/text.hpp"

namespace flexicase::push {
namespace {

Stack& strings(Machine& m) { return m.stacks[kString]; }
Stack& chars(Machine& m) { return m.stacks[kChar]; }
std::u16string_view view(const Item& s) { return {s.text, s.length}; }
std::u16string_view view(const std::vector<char16_t>& text) { return {text.data(), text.size()}; }

Item keep(Machine& m, std::u16string_view text) {
  auto* place = m.arena.take<char16_t>(text.size());
  std::copy(text.begin(), text.end(), place);
  return string(place, static_cast<std::uint32_t>(text.size()));
}
// A copy of the top string that may be changed in place.
char16_t* own_top(Machine& m) {
  const Item copy = keep(m, view(strings(m).top()));
  strings(m).top() = copy;
  return const_cast<char16_t*>(copy.text);
}

void concat(Machine& m) {
  Stack& s = strings(m);
  if (s.size < 2 || s.top(0).length + s.top(1).length > kMaxLength) return;
  const Item x = s.top(0), y = s.top(1);
  auto* place = m.arena.take<char16_t>(x.length + y.length);
  std::copy_n(y.text, y.length, place);
  std::copy_n(x.text, x.length, place + y.length);
  s.drop(1);
  s.top() = string(place, x.length + y.length);
}
void conjchar(Machine& m) {
  Stack& s = strings(m);
  if (!s.size || !chars(m).size || s.top().length + 1 > kMaxLength) return;
  const Item old = s.top();
  auto* place = m.arena.take<char16_t>(old.length + 1);
  std::copy_n(old.text, old.length, place);
  place[old.length] = static_cast<char16_t>(chars(m).pop().number);
  s.top() = string(place, old.length + 1);
}
void reverse(Machine& m) {
  if (!strings(m).size) return;
  char16_t* text = own_top(m);
  std::reverse(text, text + strings(m).top().length);
}
void sort(Machine& m) {
  if (!strings(m).size) return;
  m.spend(20 * std::int64_t{strings(m).top().length});
  char16_t* text = own_top(m);
  std::sort(text, text + strings(m).top().length);
}

void append(std::vector<char16_t>& out, std::u16string_view text) { out.insert(out.end(), text.begin(), text.end()); }

// Writes the text with occurrences replaced; stops early, with too long a text, once the result cannot be kept.
void replaced(Machine& m, std::u16string_view text, std::u16string_view match, std::u16string_view by, bool all,
              std::vector<char16_t>& out) {
  out.clear();
  std::size_t at = 0;
  while (out.size() <= kMaxLength) {
    const std::size_t found = find(m, text, match, at);
    if (found == text.npos) break;
    append(out, text.substr(at, found - at));
    append(out, by);
    at = found + match.size();
    if (!all) break;
    if (match.empty()) {
      if (at == text.size()) return;
      out.push_back(text[at++]);
    }
  }
  append(out, text.substr(at));
}
void replace_strings(Machine& m, bool all) {
  Stack& s = strings(m);
  if (s.size < 3) return;
  replaced(m, view(s.top(2)), view(s.top(1)), view(s.top(0)), all, m.scratch);
  if (m.scratch.size() > kMaxLength) return;
  const Item result = keep(m, view(m.scratch));
  s.drop(2);
  s.top() = result;
}
void replace(Machine& m) { replace_strings(m, true); }
void replacefirst(Machine& m) { replace_strings(m, false); }
void replace_chars(Machine& m, bool all) {
  if (!strings(m).size || chars(m).size < 2) return;
  const auto by = static_cast<char16_t>(chars(m).pop().number), match = static_cast<char16_t>(chars(m).pop().number);
  char16_t* text = own_top(m);
  char16_t* end = text + strings(m).top().length;
  if (all) {
    std::replace(text, end, match, by);
  } else if (char16_t* found = std::find(text, end, match); found != end) {
    *found = by;
  }
}
void replacechar(Machine& m) { replace_chars(m, true); }
void replacefirstchar(Machine& m) { replace_chars(m, false); }
void removechar(Machine& m) {
  if (!strings(m).size || !chars(m).size) return;
  const auto c = static_cast<char16_t>(chars(m).pop().number);
  char16_t* text = own_top(m);
  Item& s = strings(m).top();
  s.length = static_cast<std::uint32_t>(std::remove(text, text + s.length, c) - text);
}
void setchar(Machine& m) {
  if (!strings(m).size || !chars(m).size || !m.stacks[kInteger].size) return;
  const auto c = static_cast<char16_t>(chars(m).pop().number);
  const std::int64_t n = m.stacks[kInteger].pop().number;
  const std::uint32_t length = strings(m).top().length;
  if (length) own_top(m)[floored_mod(n, length)] = c;
}
// Changes the case of the top string: the first `capitals` characters to upper case, the rest to lower case.
void change_case(Machine& m, std::size_t capitals) {
  if (!strings(m).size) return;
  const std::u16string_view text = view(strings(m).top());
  capitals = std::min(capitals, text.size());
  m.spend(8 * static_cast<std::int64_t>(text.size()));
  m.scratch.clear();
  append_upper(text.substr(0, capitals), m.scratch);
  append_lower(text.substr(capitals), m.scratch);
  strings(m).top() = keep(m, view(m.scratch));
}
void uppercase(Machine& m) { change_case(m, SIZE_MAX); }
void lowercase(Machine& m) { change_case(m, 0); }
void capitalize(Machine& m) { change_case(m, 1); }

}  // namespace

void add_string_edits(Table& t) {
  t.add("string_concat", {"string"}, concat);
  t.add("string_conjchar", {"string", "char"}, conjchar);
  t.add("string_reverse", {"string"}, reverse);
  t.add("string_replace", {"string"}, replace);
  t.add("string_replacefirst", {"string"}, replacefirst);
  t.add("string_replacechar", {"string", "char"}, replacechar);
  t.add("string_replacefirstchar", {"string", "char"}, replacefirstchar);
  t.add("string_removechar", {"string", "char"}, removechar);
  t.add("string_setchar", {"string", "char", "integer"}, setchar);
  t.add("string_capitalize", {"string"}, capitalize, 0, kLater);
  t.add("string_uppercase", {"string"}, uppercase, 0, kLater);
  t.add("string_lowercase", {"string"}, lowercase, 0, kLater);
  t.add("string_sort", {"string"}, sort, 0, kLater);
}

}  // namespace flexicase::push

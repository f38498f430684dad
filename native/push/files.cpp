// Instructions that read a text: the first input is what is left of it, the second the whole.
#include <algorithm>

#include "push/table.hpp"

namespace flexicase::push {
namespace {

bool has_text(Machine& m) {
  m.same_on_all_cases = false;
  return !m.inputs.empty() && m.inputs[0].kind == Kind::string;
}

void skip(Item& text, std::uint32_t count) {
  text.text += count;
  text.length -= count;
}

void read_char(Machine& m) {
  if (!has_text(m) || !m.inputs[0].length) return;
  m.stacks[kChar].push(character(m.inputs[0].text[0]));
  skip(m.inputs[0], 1);
}
void read_line(Machine& m) {
  if (!has_text(m) || !m.inputs[0].length) return;
  const Item& left = m.inputs[0];
  const char16_t* end = left.text + left.length;
  const char16_t* newline = std::find(left.text, end, u'\n');
  const auto length = static_cast<std::uint32_t>((newline == end ? end : newline + 1) - left.text);
  m.stacks[kString].push(string(left.text, length));
  skip(m.inputs[0], length);
}
void at_end(Machine& m) {
  if (has_text(m)) m.stacks[kBoolean].push(boolean(m.inputs[0].length == 0));
}
void begin(Machine& m) {
  m.same_on_all_cases = false;
  if (m.inputs.size() >= 2) m.inputs[0] = m.inputs[1];
}

}  // namespace

void add_files(Table& t) {
  t.add("file_readchar", {"char"}, read_char, 0, kNone);
  t.add("file_readline", {"string"}, read_line, 0, kNone);
  t.add("file_EOF", {"boolean"}, at_end, 0, kNone);
  t.add("file_begin", {"input"}, begin, 0, kNone);
}

}  // namespace flexicase::push

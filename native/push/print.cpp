// Instructions that print.
#include <string_view>

#include "push/table.hpp"
#include "push/text.hpp"

namespace flexicase::push {
namespace {

constexpr std::u16string_view kNoItem = u":no-stack-item";

void start_output(Machine& m) {
  if (m.has_output) return;
  m.output.assign(kNoItem.begin(), kNoItem.end());
  m.has_output = true;
}

void append(Machine& m, const Item& item) {
  switch (item.kind) {
    case Kind::string: m.output.insert(m.output.end(), item.text, item.text + item.length); break;
    case Kind::character: m.output.push_back(static_cast<char16_t>(item.number)); break;
    case Kind::real: {
      const NumberText written = printed(item.real);
      const std::string_view text = written;
      m.output.insert(m.output.end(), text.begin(), text.end());
      break;
    }
    default: write_readable(m, item, m.output, kMaxOutput);
  }
}

template <StackId S>
void print(Machine& m) {
  if (!m.stacks[S].size) return;
  const bool had_output = m.has_output;
  start_output(m);
  const std::size_t length = m.output.size();
  append(m, m.stacks[S].top());
  if (m.output.size() > kMaxOutput) {
    m.output.resize(had_output ? length : 0);
    m.has_output = had_output;
    return;
  }
  m.stacks[S].drop(1);
}

void newline(Machine& m) {
  if (m.has_output && m.output.size() + 1 > kMaxOutput) return;
  start_output(m);
  m.output.push_back(u'\n');
}

}  // namespace

void add_print(Table& t) {
  const auto add = [&](StackId s, Action action) {
    t.add(std::string("print_") + kStackNames[s], {"print", kStackNames[s]}, action, s == kExec ? 1 : 0);
  };
  add(kExec, print<kExec>);
  add(kCode, print<kCode>);
  add(kInteger, print<kInteger>);
  add(kFloat, print<kFloat>);
  add(kBoolean, print<kBoolean>);
  add(kChar, print<kChar>);
  add(kString, print<kString>);
  add(kVectorInteger, print<kVectorInteger>);
  add(kVectorFloat, print<kVectorFloat>);
  add(kVectorBoolean, print<kVectorBoolean>);
  add(kVectorString, print<kVectorString>);
  t.add("print_newline", {"print"}, newline);
}

}  // namespace flexicase::push

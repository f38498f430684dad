// Instructions of the integer and boolean stacks.
#include <cmath>

#include "push/common.hpp"
#include "push/text.hpp"

namespace flexicase::push {
namespace {

template <class F>
void arithmetic(Machine& m, F f) {
  Stack& s = m.stacks[kInteger];
  if (s.size < 2) return;
  const Item x = s.pop();
  Item& y = s.top();
  y = Machine::limited(f(static_cast<Wide>(y.number), static_cast<Wide>(x.number)), x.flag || y.flag);
}
template <class F>
void compare(Machine& m, F f) {
  Stack& s = m.stacks[kInteger];
  if (s.size < 2) return;
  const bool outcome = f(s.top(1).number, s.top(0).number);
  s.drop(2);
  m.stacks[kBoolean].push(boolean(outcome));
}
template <class F>
void unary(Machine& m, F f) {
  Stack& s = m.stacks[kInteger];
  if (s.size) s.top() = Machine::limited(f(static_cast<Wide>(s.top().number)), s.top().flag);
}
template <class F>
void choose(Machine& m, F second_wins) {
  Stack& s = m.stacks[kInteger];
  if (s.size < 2) return;
  const Item x = s.pop();
  if (!second_wins(s.top().number, x.number)) s.top() = x;
}

void div(Machine& m) {
  Stack& s = m.stacks[kInteger];
  if (s.size < 2 || s.top().number == 0) return;
  const Item x = s.pop();
  Item& y = s.top();
  const Wide quotient = x.number == -1 ? -static_cast<Wide>(y.number) : Wide{y.number / x.number};
  const bool exact = x.number == -1 || y.number % x.number == 0;
  const auto tiny = [&] { return std::fabs(static_cast<double>(y.number) / static_cast<double>(x.number)) < kMinReal; };
  const bool clamped = quotient >= kMaxNumber || quotient <= -kMaxNumber;
  y = Machine::limited(quotient, exact ? x.flag || y.flag : !clamped && (quotient != 0 || !tiny()));
}
void mod(Machine& m) {
  Stack& s = m.stacks[kInteger];
  if (s.size < 2 || s.top().number == 0) return;
  const Item x = s.pop();
  Item& y = s.top();
  y = Machine::limited(floored_mod(y.number, x.number), x.flag || y.flag);
}
void pow(Machine& m) {
  Stack& s = m.stacks[kInteger];
  if (s.size < 2) return;
  const std::int64_t e = s.pop().number;
  Item& base = s.top();
  const std::int64_t b = base.number;
  const bool negative = b < 0 && e % 2 != 0;
  if (b == 0 || b == 1) {
    base = integer(b);
  } else if (e > 40 && b != -1) {
    base = integer(negative ? -kMaxNumber : kMaxNumber);
  } else if (e < 0) {
    base = integer(0);
  } else {
    Wide size = 1;
    const Wide factor = b < 0 ? -static_cast<Wide>(b) : b;
    for (std::int64_t i = 0; i < e && factor > 1 && size <= kMaxNumber; ++i) size *= factor;
    base = Machine::limited(negative ? -size : size, base.flag);
  }
}
void integer_fromboolean(Machine& m) {
  if (m.stacks[kBoolean].size) m.stacks[kInteger].push(integer(m.stacks[kBoolean].pop().number));
}
void integer_fromfloat(Machine& m) {
  if (!m.stacks[kFloat].size) return;
  const double value = m.stacks[kFloat].pop().real;
  std::int64_t whole = 0;
  if (value >= 9223372036854775808.0) {
    whole = INT64_MAX;
  } else if (value < -9223372036854775808.0) {
    whole = INT64_MIN;
  } else if (!std::isnan(value)) {
    whole = static_cast<std::int64_t>(value);
  }
  m.stacks[kInteger].push(integer(whole));
}
void integer_fromstring(Machine& m) {
  Stack& s = m.stacks[kString];
  if (!s.size) return;
  const Item& text = s.top();
  std::uint32_t i = text.length && (text.text[0] == u'+' || text.text[0] == u'-') ? 1 : 0;
  const bool negative = i && text.text[0] == u'-';
  if (i == text.length) return;
  Wide value = 0;
  for (; i < text.length; ++i) {
    const int digit = digit_value(text.text[i]);
    if (digit < 0) return;
    value = value * 10 + digit;
    if (value > static_cast<Wide>(INT64_MAX) + negative) return;
  }
  s.drop(1);
  m.stacks[kInteger].push(Machine::limited(negative ? -value : value, false));
}
void integer_fromchar(Machine& m) {
  if (m.stacks[kChar].size) m.stacks[kInteger].push(integer(m.stacks[kChar].pop().number));
}

template <class F>
void logic(Machine& m, F f) {
  Stack& s = m.stacks[kBoolean];
  if (s.size < 2) return;
  const bool x = s.pop().number;
  s.top() = boolean(f(x, static_cast<bool>(s.top().number)));
}

}  // namespace

void add_integer(Table& t) {
  add_common<kInteger>(t);
  const auto own = [&](const char* name, Action action, std::uint8_t profiles = kAll) {
    t.add(name, {"integer"}, action, 0, profiles);
  };
  const auto test = [&](const char* name, Action action) { t.add(name, {"integer", "boolean"}, action); };
  own("integer_add", [](Machine& m) { arithmetic(m, [](Wide y, Wide x) { return y + x; }); });
  own("integer_sub", [](Machine& m) { arithmetic(m, [](Wide y, Wide x) { return y - x; }); });
  own("integer_mult", [](Machine& m) { arithmetic(m, [](Wide y, Wide x) { return y * x; }); });
  own("integer_min", [](Machine& m) { choose(m, [](auto y, auto x) { return y < x; }); });
  own("integer_max", [](Machine& m) { choose(m, [](auto y, auto x) { return y > x; }); });
  test("integer_lt", [](Machine& m) { compare(m, [](auto y, auto x) { return y < x; }); });
  test("integer_lte", [](Machine& m) { compare(m, [](auto y, auto x) { return y <= x; }); });
  test("integer_gt", [](Machine& m) { compare(m, [](auto y, auto x) { return y > x; }); });
  test("integer_gte", [](Machine& m) { compare(m, [](auto y, auto x) { return y >= x; }); });
  own("integer_inc", [](Machine& m) { unary(m, [](Wide x) { return x + 1; }); });
  own("integer_dec", [](Machine& m) { unary(m, [](Wide x) { return x - 1; }); });
  own("integer_negate", [](Machine& m) { unary(m, [](Wide x) { return -x; }); }, kLater);
  own("integer_abs", [](Machine& m) { unary(m, [](Wide x) { return x < 0 ? -x : x; }); }, kLater);
  own("integer_div", div);
  own("integer_mod", mod);
  own("integer_pow", pow, kLater);
  t.add("integer_fromboolean", {"integer", "boolean"}, integer_fromboolean);
  t.add("integer_fromfloat", {"integer", "float"}, integer_fromfloat);
  t.add("integer_fromstring", {"integer", "string"}, integer_fromstring);
  t.add("integer_fromchar", {"integer", "char"}, integer_fromchar);
}

void add_boolean(Table& t) {
  add_common<kBoolean>(t);
  const auto own = [&](const char* name, Action action) { t.add(name, {"boolean"}, action); };
  own("boolean_and", [](Machine& m) { logic(m, [](bool x, bool y) { return x && y; }); });
  own("boolean_or", [](Machine& m) { logic(m, [](bool x, bool y) { return x || y; }); });
  own("boolean_xor", [](Machine& m) { logic(m, [](bool x, bool y) { return x != y; }); });
  own("boolean_invert_first_then_and", [](Machine& m) { logic(m, [](bool x, bool y) { return !x && y; }); });
  own("boolean_invert_second_then_and", [](Machine& m) { logic(m, [](bool x, bool y) { return x && !y; }); });
  own("boolean_not", [](Machine& m) {
    Stack& s = m.stacks[kBoolean];
    if (s.size) s.top() = boolean(!s.top().number);
  });
  t.add("boolean_frominteger", {"boolean", "integer"}, [](Machine& m) {
    if (m.stacks[kInteger].size) m.stacks[kBoolean].push(boolean(m.stacks[kInteger].pop().number != 0));
  });
  t.add("boolean_fromfloat", {"boolean", "float"}, [](Machine& m) {
    if (m.stacks[kFloat].size) m.stacks[kBoolean].push(boolean(m.stacks[kFloat].pop().real != 0.0));
  });
}

}  // namespace flexicase::push

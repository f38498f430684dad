// Instructions of the float stack.
#include <cmath>

#include "push/common.hpp"
#include "push/elementary.hpp"
#include "push/text.hpp"

namespace flexicase::push {
namespace {

constexpr double kLog2 = 0.6931471805599453;

template <class F>
void arithmetic(Machine& m, F f) {
  Stack& s = m.stacks[kFloat];
  if (s.size < 2) return;
  const double x = s.pop().real;
  s.top() = m.limited(f(s.top().real, x));
}
template <class F>
void compare(Machine& m, F f) {
  Stack& s = m.stacks[kFloat];
  if (s.size < 2) return;
  const bool outcome = f(s.top(1).real, s.top(0).real);
  s.drop(2);
  m.stacks[kBoolean].push(boolean(outcome));
}
template <class F>
void unary(Machine& m, F f) {
  Stack& s = m.stacks[kFloat];
  if (s.size) s.top() = m.limited(f(s.top().real));
}
template <class F>
void choose(Machine& m, F second_wins) {
  Stack& s = m.stacks[kFloat];
  if (s.size < 2) return;
  const Item x = s.pop();
  if (!std::isnan(s.top().real) && !second_wins(s.top().real, x.real)) s.top() = x;
}

bool divisible(Machine& m) { return m.stacks[kFloat].size >= 2 && m.stacks[kFloat].top().real != 0.0; }

// A single within the limits stays one; what a limit replaces is a double.
Item limited_single(Machine& m, float value) {
  Item result = m.limited(value);
  result.flag = result.real == value && value != 0.0F;
  return result;
}

void abs(Machine& m) {
  Stack& s = m.stacks[kFloat];
  if (!s.size) return;
  const Item x = s.top();
  s.top() = m.limited(std::fabs(x.real));
  s.top().flag = x.flag && s.top().real == x.real && x.real != 0.0;
}
void div(Machine& m) {
  if (divisible(m)) arithmetic(m, [](double y, double x) { return y / x; });
}
void mod(Machine& m) {
  if (!divisible(m)) return;
  arithmetic(m, [](double y, double x) {
    const double rest = y - std::trunc(y / x) * x;
    return rest == 0.0 || (y > 0) == (x > 0) ? rest : rest + x;
  });
}
void pow(Machine& m) {
  Stack& s = m.stacks[kFloat];
  if (s.size < 2) return;
  const double e = s.pop().real;
  Item& base = s.top();
  const double b = base.real;
  if (b == 0.0 || (e < -40 && !(e > 40))) {
    base = real(0.0);
  } else if (e > 40 && b >= 2) {
    base = real(kMaxReal);
  } else if (e > 40 && b <= -2) {
    base = real(std::fmod(e, 2.0) == 0.0 ? kMaxReal : -kMaxReal);
  } else {
    base = limited_single(m, static_cast<float>(m.limited(elementary::pow(b, e)).real));
  }
}

void float_fromboolean(Machine& m) {
  if (m.stacks[kBoolean].size) m.stacks[kFloat].push(real(m.stacks[kBoolean].pop().number ? 1.0 : 0.0));
}
void float_frominteger(Machine& m) {
  if (m.stacks[kInteger].size) m.stacks[kFloat].push(real(static_cast<double>(m.stacks[kInteger].pop().number)));
}
void float_fromchar(Machine& m) {
  if (m.stacks[kChar].size) m.stacks[kFloat].push(real(static_cast<double>(m.stacks[kChar].pop().number), true));
}
void float_fromstring(Machine& m) {
  if (!m.stacks[kString].size) return;
  const std::optional<float> value = read_single(m, m.stacks[kString].top());
  if (!value) return;
  m.stacks[kString].drop(1);
  m.stacks[kFloat].push(limited_single(m, *value));
}

}  // namespace

void add_float(Table& t) {
  add_common<kFloat>(t);
  const auto own = [&](const char* name, Action action, std::uint8_t profiles = kAll) {
    t.add(name, {"float"}, action, 0, profiles);
  };
  const auto test = [&](const char* name, Action action) { t.add(name, {"float", "boolean"}, action); };
  own("float_add", [](Machine& m) { arithmetic(m, [](double y, double x) { return y + x; }); });
  own("float_sub", [](Machine& m) { arithmetic(m, [](double y, double x) { return y - x; }); });
  own("float_mult", [](Machine& m) { arithmetic(m, [](double y, double x) { return y * x; }); });
  own("float_min", [](Machine& m) { choose(m, [](double y, double x) { return y < x; }); });
  own("float_max", [](Machine& m) { choose(m, [](double y, double x) { return y > x; }); });
  test("float_lt", [](Machine& m) { compare(m, [](double y, double x) { return y < x; }); });
  test("float_lte", [](Machine& m) { compare(m, [](double y, double x) { return y <= x; }); });
  test("float_gt", [](Machine& m) { compare(m, [](double y, double x) { return y > x; }); });
  test("float_gte", [](Machine& m) { compare(m, [](double y, double x) { return y >= x; }); });
  own("float_inc", [](Machine& m) { unary(m, [](double x) { return x + 1; }); });
  own("float_dec", [](Machine& m) { unary(m, [](double x) { return x - 1; }); });
  own("float_negate", [](Machine& m) { unary(m, [](double x) { return -x; }); }, kLater);
  own("float_abs", abs, kLater);
  own("float_div", div);
  own("float_mod", mod);
  own("float_pow", pow, kLater);
  own("float_sin", [](Machine& m) { unary(m, [](double x) { return elementary::sin(x); }); });
  own("float_cos", [](Machine& m) { unary(m, [](double x) { return elementary::cos(x); }); });
  own("float_tan", [](Machine& m) { unary(m, [](double x) { return elementary::tan(x); }); });
  own("float_square", [](Machine& m) { unary(m, [](double x) { return x * x; }); }, kLater);
  own("float_sqrt", [](Machine& m) { unary(m, [](double x) { return std::sqrt(x); }); }, kLater);
  own("float_log10", [](Machine& m) { unary(m, [](double x) { return elementary::log10(x); }); }, kLater);
  own("float_log2", [](Machine& m) { unary(m, [](double x) { return elementary::log(x) / kLog2; }); }, kLater);
  own("float_ceiling", [](Machine& m) { unary(m, [](double x) { return std::ceil(x); }); }, kLater);
  own("float_floor", [](Machine& m) { unary(m, [](double x) { return std::floor(x); }); }, kLater);
  own("float_arccos", [](Machine& m) { unary(m, [](double x) { return elementary::acos(x); }); }, kLater);
  own("float_arcsin", [](Machine& m) { unary(m, [](double x) { return elementary::asin(x); }); }, kLater);
  own("float_arctan", [](Machine& m) { unary(m, [](double x) { return elementary::atan(x); }); }, kLater);
  t.add("float_fromboolean", {"float", "boolean"}, float_fromboolean);
  t.add("float_frominteger", {"integer", "float"}, float_frominteger);
  t.add("float_fromchar", {"float", "char"}, float_fromchar);
  t.add("float_fromstring", {"float", "string"}, float_fromstring);
}

}  // namespace flexicase::push

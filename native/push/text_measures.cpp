// Errors of what a text says: numbers in it, its lines, words and characters.
#include <algorithm>
#include <cmath>
#include <optional>

#include "push/measures.hpp"
#include "push/text.hpp"

namespace flexicase::push {
namespace {

using Text = std::u16string_view;

bool is_space(char16_t c) { return c == u' ' || (c >= u'\t' && c <= u'\r'); }
bool is_digit(char16_t c) { return c >= u'0' && c <= u'9'; }
// What a dot of a regular expression does not stand for.
bool ends_line(char16_t c) { return c == u'\n' || c == u'\r' || c == 0x85 || c == 0x2028 || c == 0x2029; }

double value_of(const Item& item) { return item.kind == Kind::real ? item.real : static_cast<double>(item.number); }

std::size_t digits_at(Text text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

double decimal(Text text) { return double_of(std::string(text.begin(), text.end()).c_str()); }

// An optional minus and digits.
bool is_integer(Text text) {
  const std::size_t sign = !text.empty() && text[0] == u'-' ? 1 : 0;
  return text.size() > sign && digits_at(text, sign) == text.size() - sign;
}

double integer_value(Text text) {
  constexpr std::size_t kExact = 16;  // so many characters of a number fit a double
  if (text.size() > kExact) return decimal(text);
  std::int64_t value = 0;
  for (const char16_t c : text) value = is_digit(c) ? 10 * value + (c - u'0') : 0;
  return static_cast<double>(text[0] == u'-' ? -value : value);
}

// Calls `visit` with each line; empty lines at the end are none.
template <class Visit>
void for_lines(Text text, Visit visit) {
  const std::size_t end = text.find_last_not_of(u'\n');
  if (end == Text::npos) return;
  text = text.substr(0, end + 1);
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t stop = std::min(text.find(u'\n', start), text.size());
    visit(text.substr(start, stop - start));
    start = stop + 1;
  }
}

double newlines(Text text) { return static_cast<double>(std::count(text.begin(), text.end(), u'\n')); }

// |target − lines that are integers| + lines that are not.
double integer_lines(Text text, double target) {
  double integers = 0, others = 0;
  for_lines(text, [&](Text line) { ++(is_integer(line) ? integers : others); });
  return std::fabs(target - integers) + others;
}

// Differences between the targets and the lines that are integers, in order.
double integer_line_values(Text text, const Item& targets, double penalty) {
  constexpr double kLeast = -2147483648.0, kMost = 2147483647.0;
  double total = 0;
  std::uint32_t used = 0;
  for_lines(text, [&](Text line) {
    if (used == targets.length || !is_integer(line)) return;
    const double value = integer_value(line);
    const bool fits = value >= kLeast && value <= kMost;
    total += fits ? std::fabs(value - static_cast<double>(targets.items[used].number)) : penalty;
    ++used;
  });
  return total + penalty * (targets.length - used);
}

// Digits, space, one character, space, one character.
bool is_difference(Text line) {
  const std::size_t digits = digits_at(line, 0);
  return digits && line.size() == digits + 4 && line[digits] == u' ' && !is_space(line[digits + 1]) &&
         line[digits + 2] == u' ' && !is_space(line[digits + 3]);
}

double difference_lines(Text text) {
  double count = 0;
  for_lines(text, [&](Text line) { count += is_difference(line); });
  return count;
}

// Parts between white space; a line without any counts as one.
double words_on(Text line) {
  double count = 0;
  for (std::size_t i = 0; i < line.size(); ++i) count += !is_space(line[i]) && (i == 0 || is_space(line[i - 1]));
  return std::max(count, 1.0);
}

// All lines but the last should have `target[0]` words, the last one `target[1]`.
double words_per_line(Text text, const Item& target) {
  double total = 0, last = 1;
  bool any = false;
  for_lines(text, [&](Text line) {
    if (any) total += std::fabs(static_cast<double>(target.items[0].number) - last);
    last = words_on(line);
    any = true;
  });
  return total + std::fabs(static_cast<double>(target.items[1].number) - last);
}

// The text must be the pattern, where * is the letter that is compared and ? is any character.
double letter(Text text, Text pattern, char16_t target, double penalty) {
  if (text.size() != pattern.size()) return penalty;
  double error = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool free = pattern[i] == u'*' || pattern[i] == u'?';
    if (free ? ends_line(text[i]) : text[i] != pattern[i]) return penalty;
    if (pattern[i] == u'*') error = std::abs(static_cast<int>(text[i]) - static_cast<int>(target));
  }
  return error;
}

// The whole text as a number; no error is above the penalty.
double number(Text text, double target, const Question& question) {
  const std::optional<double> value = read_double(string(text.data(), static_cast<std::uint32_t>(text.size())));
  const double error = value ? std::fabs(target - *value) : question.penalty;
  return rounded(error < question.penalty ? error : question.penalty, question.decimals);
}

// How far a number is from the target; one with more digits than a double can hold says nothing.
double apart(std::optional<double> value, double target, double penalty) {
  return value && std::isfinite(*value) ? std::fabs(*value - target) : penalty;
}

// The last part between white space.
double last_integer(Text text, double target, double penalty) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::size_t start = text.size();
  while (start && !is_space(text[start - 1])) --start;
  const Text last = text.substr(start);
  return apart(is_integer(last) ? std::optional(integer_value(last)) : std::nullopt, target, penalty);
}

// The number right after the first label; with `point`, digits on both sides of a point.
std::optional<double> number_after(Text text, Text label, bool point) {
  const std::size_t at = text.find(label);
  if (at == Text::npos) return std::nullopt;
  text = text.substr(at + label.size());
  const std::size_t sign = !text.empty() && text[0] == u'-' ? 1 : 0;
  const std::size_t whole = digits_at(text, sign);
  if (!whole) return std::nullopt;
  if (!point) return integer_value(text.substr(0, sign + whole));
  const std::size_t dot = sign + whole;
  const std::size_t fraction = dot < text.size() && text[dot] == u'.' ? digits_at(text, dot + 1) : 0;
  return fraction ? std::optional(decimal(text.substr(0, dot + 1 + fraction))) : std::nullopt;
}

}  // namespace

double text_error(const Question& question, Text text, const Item& target) {
  switch (question.measure) {
    case Measure::last_character:
      if (text.empty()) return question.penalty;
      return std::abs(static_cast<int>(text.back()) - static_cast<int>(target.text[target.length - 1]));
    case Measure::letter: return letter(text, question.label, target.text[0], question.penalty);
    case Measure::number: return number(text, value_of(target), question);
    case Measure::last_integer: return last_integer(text, value_of(target), question.penalty);
    case Measure::integer_after:
      return apart(number_after(text, question.label, false), value_of(target), question.penalty);
    case Measure::decimal_after: {
      const std::optional<double> value = number_after(text, question.label, true);
      if (!value) return question.penalty;
      return static_cast<double>(static_cast<float>(rounded(std::fabs(*value - value_of(target)), question.decimals)));
    }
    case Measure::newlines: return std::fabs(newlines(text) - value_of(target));
    case Measure::difference_lines: return std::fabs(difference_lines(text) - value_of(target));
    case Measure::integer_lines: return integer_lines(text, value_of(target));
    case Measure::integer_line_values: return integer_line_values(text, target, question.penalty);
    default: return words_per_line(text, target);
  }
}

}  // namespace flexicase::push

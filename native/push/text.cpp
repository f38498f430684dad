#include "push/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "push/table.hpp"

namespace flexicase::push {
namespace {

// Lays out decimal digits d1d2d3… × 10^exponent (the point after d1).
std::string layout(std::string digits, int exponent, bool negative) {
  std::string out = negative ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent >= -3 && exponent < 7) {
    if (exponent < 0) {
      out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    } else {
      if (count < exponent + 2) digits.append(static_cast<std::size_t>(exponent + 2 - count), '0');
      out += digits.substr(0, static_cast<std::size_t>(exponent) + 1) + "." +
             digits.substr(static_cast<std::size_t>(exponent) + 1);
    }
    return out;
  }
  if (count == 1) digits += '0';
  return out + digits.substr(0, 1) + "." + digits.substr(1) + "E" + std::to_string(exponent);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Passes digits (at least one, around an optional point) and gives the place after them, or null.
const char* mantissa(const char* at, const char* end, bool (*accept)(char)) {
  int digits = 0;
  for (; at < end && accept(*at); ++at) ++digits;
  if (at < end && *at == '.') {
    for (++at; at < end && accept(*at); ++at) ++digits;
  }
  return digits ? at : nullptr;
}

// Passes an exponent after its letter, or gives null.
const char* exponent_digits(const char* at, const char* end) {
  if (at < end && (*at == '+' || *at == '-')) ++at;
  const char* first = at;
  while (at < end && is_digit(*at)) ++at;
  return at == first ? nullptr : at;
}

const char* number_end(const char* at, const char* end, bool hex) {
  at = mantissa(at, end, hex ? is_hex : is_digit);
  if (!at) return nullptr;
  const char low = hex ? 'p' : 'e';
  const char high = hex ? 'P' : 'E';
  if (at < end && (*at == low || *at == high)) return exponent_digits(at + 1, end);
  return hex ? nullptr : at;
}

void append(std::vector<char16_t>& out, const std::string& ascii) { out.insert(out.end(), ascii.begin(), ascii.end()); }

void write_quoted(const Item& text, std::vector<char16_t>& out) {
  out.push_back(u'"');
  for (std::uint32_t i = 0; i < text.length; ++i) {
    switch (text.text[i]) {
      case u'"': append(out, "\\\""); break;
      case u'\\': append(out, "\\\\"); break;
      case u'\n': append(out, "\\n"); break;
      case u'\t': append(out, "\\t"); break;
      case u'\r': append(out, "\\r"); break;
      case u'\f': append(out, "\\f"); break;
      case u'\b': append(out, "\\b"); break;
      default: out.push_back(text.text[i]);
    }
  }
  out.push_back(u'"');
}

void write_character(std::int64_t c, std::vector<char16_t>& out) {
  out.push_back(u'\\');
  switch (c) {
    case '\n': return append(out, "newline");
    case ' ': return append(out, "space");
    case '\t': return append(out, "tab");
    case '\r': return append(out, "return");
    case '\f': return append(out, "formfeed");
    case '\b': return append(out, "backspace");
    default: out.push_back(static_cast<char16_t>(c));
  }
}

void write_atom(const Item& item, std::vector<char16_t>& out) {
  switch (item.kind) {
    case Kind::integer: return append(out, std::to_string(item.number) + (item.flag ? "N" : ""));
    case Kind::real: return append(out, text_of(item.real, item.flag));
    case Kind::boolean: return append(out, item.number ? "true" : "false");
    case Kind::character: return write_character(item.number, out);
    case Kind::string: return write_quoted(item, out);
    case Kind::nil: return append(out, "nil");
    default: return append(out, symbol_name(item));
  }
}

// The value of a text that is a number, which `convert` makes of its digits.
template <class Real>
std::optional<Real> read_number(const Item& text, Real (*convert)(const char*, char**)) {
  std::string ascii;
  for (std::uint32_t i = 0; i < text.length; ++i) {
    if (text.text[i] > 127) return std::nullopt;
    ascii += static_cast<char>(text.text[i]);
  }
  const char* at = ascii.data();
  const char* end = at + ascii.size();
  while (at < end && *at <= ' ') ++at;
  while (end > at && end[-1] <= ' ') --end;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '+' || *at == '-')) ++at;
  const std::string_view body(at, static_cast<std::size_t>(end - at));
  if (body == "NaN") return static_cast<Real>(NAN);
  if (body == "Infinity") return static_cast<Real>(negative ? -INFINITY : INFINITY);
  const bool hex = body.size() > 1 && body[0] == '0' && (body[1] == 'x' || body[1] == 'X');
  const char* stop = number_end(at + (hex ? 2 : 0), end, hex);
  if (!stop) return std::nullopt;
  if (stop < end && std::string_view("fFdD").find(*stop) == std::string_view::npos) return std::nullopt;
  if (end - stop > 1) return std::nullopt;
  const Real value = convert(std::string(at, stop).c_str(), nullptr);
  return negative ? -value : value;
}

}  // namespace

std::string text_of(double value, bool single) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  std::array<char, 40> buffer;
  const double size = std::fabs(value);
  const auto end =
      single ? std::to_chars(buffer.data(), buffer.data() + 40, static_cast<float>(size), std::chars_format::scientific)
             : std::to_chars(buffer.data(), buffer.data() + 40, size, std::chars_format::scientific);
  const std::string written(buffer.data(), end.ptr);
  const std::size_t mark = written.find('e');
  std::string digits = written.substr(0, 1);
  if (mark > 2) digits += written.substr(2, mark - 2);
  return layout(digits, std::atoi(written.c_str() + mark + 1), value < 0);
}

double rounded(double value, int decimals) {
  std::int64_t unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  const double scaled = value * static_cast<double>(unit);
  std::int64_t q = 0;
  if (scaled >= 9223372036854775808.0) {
    q = INT64_MAX;
  } else if (scaled <= -9223372036854775808.0) {
    q = INT64_MIN;
  } else if (!std::isnan(scaled)) {
    const double below = std::floor(scaled);
    q = static_cast<std::int64_t>(below) + (scaled - below >= 0.5 ? 1 : 0);
  }
  if (q % unit == 0) return static_cast<double>(q / unit);
  std::uint64_t size = q < 0 ? 0 - static_cast<std::uint64_t>(q) : static_cast<std::uint64_t>(q);
  if (size < (std::uint64_t{1} << 53)) return static_cast<double>(q) / static_cast<double>(unit);
  int exponent = -decimals;
  constexpr std::uint64_t kSixteenDigits = 10'000'000'000'000'000;
  std::uint64_t divisor = 1;
  while (size / divisor >= kSixteenDigits) {
    divisor *= 10;
    ++exponent;
  }
  const std::uint64_t rest = size % divisor;
  size /= divisor;
  if (2 * rest > divisor || (2 * rest == divisor && size % 2)) ++size;
  const std::string text = std::to_string(size) + "e" + std::to_string(exponent);
  double nearest = 0;
  std::from_chars(text.data(), text.data() + text.size(), nearest);
  return q < 0 ? -nearest : nearest;
}

std::string printed(double value) { return text_of(rounded(value, 10), false); }

std::optional<float> read_single(const Item& text) { return read_number<float>(text, std::strtof); }
std::optional<double> read_double(const Item& text) { return read_number<double>(text, std::strtod); }

bool write_readable(Machine& m, const Item& item, std::vector<char16_t>& out, std::size_t limit) {
  if (!is_sequence(item)) {
    write_atom(item, out);
    return out.size() <= limit;
  }
  // Each open list or vector waits with the number of its items that were written.
  const std::size_t floor = m.pairs.size();
  out.push_back(is_list(item) ? u'(' : u'[');
  m.pairs.emplace_back(item, integer(0));
  while (m.pairs.size() > floor && out.size() <= limit) {
    auto& [open, done] = m.pairs.back();
    const auto i = static_cast<std::uint32_t>(done.number++);
    if (i == open.length) {
      out.push_back(is_list(open) ? u')' : u']');
      m.pairs.pop_back();
      continue;
    }
    if (i) out.push_back(u' ');
    const Item next = child(open, i);
    if (is_sequence(next)) {
      out.push_back(is_list(next) ? u'(' : u'[');
      m.pairs.emplace_back(next, integer(0));
    } else {
      write_atom(next, out);
    }
  }
  m.pairs.resize(floor);
  return out.size() <= limit;
}

Item copy_text(Machine& m, const std::string& ascii) {
  auto* text = m.arena.take<char16_t>(ascii.size());
  std::copy(ascii.begin(), ascii.end(), text);
  return string(text, static_cast<std::uint32_t>(ascii.size()));
}

}  // namespace flexicase::push

#include "push/text.hpp"

#include <charconv>
#include <cmath>

#include "push/table.hpp"

namespace flexicase::push {
namespace {

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

void append(std::vector<char16_t>& out, std::string_view ascii) { out.insert(out.end(), ascii.begin(), ascii.end()); }

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

// Inside code and vectors, what is no number has a name that reads back.
void write_real(const Item& item, std::vector<char16_t>& out) {
  if (std::isnan(item.real)) return append(out, "##NaN");
  if (std::isinf(item.real)) return append(out, item.real < 0 ? "##-Inf" : "##Inf");
  append(out, text_of(item.real, item.flag));
}

void write_atom(const Item& item, std::vector<char16_t>& out) {
  switch (item.kind) {
    case Kind::integer:
      append(out, text_of(item.number));
      if (item.flag) out.push_back(u'N');
      return;
    case Kind::real: return write_real(item, out);
    case Kind::boolean: return append(out, item.number ? "true" : "false");
    case Kind::character: return write_character(item.number, out);
    case Kind::string: return write_quoted(item, out);
    case Kind::nil: return append(out, "nil");
    case Kind::instruction: return append(out, instructions()[static_cast<std::size_t>(item.number)].name);
    default: return append(out, symbol_name(item));
  }
}

// The value of a text that is a number, which `convert` makes of its digits; `ascii` is room to work in.
template <class Real>
std::optional<Real> read_number(std::vector<char>& ascii, const Item& text, Real (*convert)(const char*)) {
  ascii.clear();
  for (std::uint32_t i = 0; i < text.length; ++i) {
    if (text.text[i] > 127) return std::nullopt;
    ascii.push_back(static_cast<char>(text.text[i]));
  }
  ascii.push_back(0);
  char* at = ascii.data();
  char* end = at + text.length;
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
  at[stop - at] = 0;
  const Real value = convert(at);
  return negative ? -value : value;
}

}  // namespace

void NumberText::add(std::int64_t number) {
  const auto end = std::to_chars(characters_.data() + size_, characters_.data() + characters_.size(), number);
  size_ = static_cast<std::size_t>(end.ptr - characters_.data());
}

NumberText text_of(std::int64_t value) {
  NumberText out;
  out.add(value);
  return out;
}

NumberText text_of(double value, bool single) {
  NumberText out;
  if (std::isnan(value)) return out.add("NaN"), out;
  if (std::signbit(value)) out.add('-');
  if (std::isinf(value)) return out.add("Infinity"), out;
  if (value == 0) return out.add("0.0"), out;
  const Digits digits = digits_of(std::fabs(value), single);
  const std::string_view all(digits.digit, static_cast<std::size_t>(digits.count));
  const bool positional = digits.exponent >= -3 && digits.exponent < 7;
  if (positional && digits.exponent < 0) {
    out.add("0.");
    for (int i = -1; i > digits.exponent; --i) out.add('0');
    return out.add(all), out;
  }
  // Digits before the point, the point, digits behind it.
  const std::size_t before = positional ? static_cast<std::size_t>(digits.exponent) + 1 : 1;
  out.add(all.substr(0, before));
  for (std::size_t i = all.size(); i < before; ++i) out.add('0');
  out.add('.');
  out.add(all.size() > before ? all.substr(before) : "0");
  if (!positional) {
    out.add('E');
    out.add(std::int64_t{digits.exponent});
  }
  return out;
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
  NumberText decimal;
  decimal.add(static_cast<std::int64_t>(size));
  decimal.add('e');
  decimal.add(std::int64_t{exponent});
  decimal.add('\0');
  const double nearest = double_of(std::string_view(decimal).data());
  return q < 0 ? -nearest : nearest;
}

NumberText printed(double value) { return text_of(rounded(value, 10), false); }

std::optional<float> read_single(Machine& m, const Item& text) { return read_number<float>(m.ascii, text, single_of); }
std::optional<double> read_double(const Item& text) {
  std::vector<char> ascii;
  return read_number<double>(ascii, text, double_of);
}

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

std::size_t find(Machine& m, std::u16string_view text, std::u16string_view other, std::size_t at) {
  // A piece at a time: each place may take as long as the other text.
  const std::size_t piece = 1 + (std::size_t{1} << 20) / (1 + other.size());
  for (; at + other.size() <= text.size(); at += piece) {
    const std::size_t found = text.substr(at, piece - 1 + other.size()).find(other);
    if (found != text.npos) return at + found;
    m.spend(static_cast<std::int64_t>(std::min(piece, text.size() - at) * (1 + other.size() / 8)));
  }
  return text.npos;
}

Item copy_text(Machine& m, std::string_view ascii) {
  auto* text = m.arena.take<char16_t>(ascii.size());
  std::copy(ascii.begin(), ascii.end(), text);
  return string(text, static_cast<std::uint32_t>(ascii.size()));
}

}  // namespace flexicase::push


#include <algorithm>
#include <vector>

#include "push/genome.hpp"
#include "push/population.hpp"

namespace flexicase::push {
namespace {

// The place behind the token that closes what opens at `start`.
std::size_t end_of(const Tokens& tokens, std::size_t start) {
  std::size_t at = start;
  for (int depth = 0;; ++at) {
    if (tokens[at].mark == Mark::open) ++depth;
    if (tokens[at].mark == Mark::close) --depth;
    if (depth == 0) return at + 1;
  }
}

// The place of the `index`-th token that is not, or is, an opening.
template <class Counts>
std::size_t place_of(const Tokens& tokens, std::uint64_t index, Counts counts) {
  for (std::size_t at = 0;; ++at) {
    if (counts(tokens[at]) && index-- == 0) return at;
  }
}

void delete_point(Tokens& tokens, Stream& stream) {
  const auto is_point = [](const Token& token) { return token.mark != Mark::close; };
  const auto points = static_cast<std::uint64_t>(std::count_if(tokens.begin(), tokens.end(), is_point));
  if (points < 2) return;
  const std::size_t start = place_of(tokens, 1 + stream.bounded(points - 1), is_point);
  const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(start);
  tokens.erase(begin, tokens.begin() + static_cast<std::ptrdiff_t>(end_of(tokens, start)));
}

void remove_parentheses(Tokens& tokens, Stream& stream) {
  const auto opens = [](const Token& token) { return token.mark == Mark::open; };
  const auto pairs = static_cast<std::uint64_t>(std::count_if(tokens.begin(), tokens.end(), opens));
  if (pairs < 2) return;
  const std::size_t start = place_of(tokens, 1 + stream.bounded(pairs - 1), opens), end = end_of(tokens, start);
  Tokens left;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (at == start || at + 1 == end) continue;
    if (token.mark == Mark::item && token.item.kind == Kind::vector) {
      for (std::uint32_t i = 0; i < token.item.length; ++i) left.push_back({Mark::item, token.item.items[i]});
    } else {
      left.push_back(token);
    }
  }
  tokens = std::move(left);
}

}  // namespace

Item smaller(const Item& program, Stream& stream, Arena& arena) {
  if (!is_list(program)) return copied(program, arena);
  Tokens tokens = tokens_of(program);
  if (stream.bounded(5) == 0) {
    remove_parentheses(tokens, stream);
  } else {
    for (std::uint64_t times = 1 + stream.bounded(2); times > 0; --times) delete_point(tokens, stream);
  }
  return gathered(tokens, arena);
}

}  // namespace flexicase::push

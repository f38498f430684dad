// 64 cells of a column of the distance matrix at a time (Myers, JACM 1999; blocks after Hyyrö, 2003).
#include <algorithm>
#include <bit>
#include <vector>

#include "push/measures.hpp"

namespace flexicase::push {
namespace {

constexpr std::uint32_t kBlock = 64;
constexpr std::uint32_t kAscii = 128;

// What a block of a column knows of its cells: which are one above, and one below, the cell before them.
struct Block {
  std::uint64_t above = ~std::uint64_t{0}, below = 0;

  // Goes on to the next column, where `same` marks the places of the pattern that match; `step` is how the row above
  // the block changes, and the result how the row of `last`, a bit of the block, does.
  int advance(std::uint64_t same, int step, std::uint64_t last) {
    const std::uint64_t vertical = same | below;
    if (step < 0) same |= 1;
    const std::uint64_t carried = (((same & above) + above) ^ above) | same;
    std::uint64_t up = below | ~(carried | above);
    std::uint64_t down = above & carried;
    const int change = (up & last) ? 1 : (down & last) ? -1 : 0;
    up = (up << 1) | (step > 0 ? 1 : 0);
    down = (down << 1) | (step < 0 ? 1 : 0);
    above = down | ~(vertical | up);
    below = up & vertical;
    return change;
  }
};

// `matches(i, block)` gives the places of a block of the pattern that equal item i of the text.
// A column takes about `cost` nanoseconds a block.
template <class Matches>
std::uint32_t distance(Machine& m, std::uint32_t text, std::uint32_t pattern, std::int64_t cost, Matches matches) {
  const std::uint32_t blocks = (pattern + kBlock - 1) / kBlock;
  m.column.clear();  // the two words of each block
  for (std::uint32_t b = 0; b < blocks; ++b) m.column.insert(m.column.end(), {Block{}.above, Block{}.below});
  std::int64_t score = pattern;
  for (std::uint32_t i = 0; i < text; ++i) {
    m.spend(cost * blocks);
    int step = 1;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const std::uint32_t last = b + 1 < blocks ? kBlock - 1 : (pattern - 1) % kBlock;
      std::uint64_t* const words = m.column.data() + std::size_t{2} * b;
      Block block{words[0], words[1]};
      step = block.advance(matches(i, b), step, std::uint64_t{1} << last);
      words[0] = block.above;
      words[1] = block.below;
    }
    score += step;
  }
  return static_cast<std::uint32_t>(score);
}

// The places of a block that `same` says are equal.
template <class Same>
std::uint64_t scan(std::uint32_t block, std::uint32_t pattern, Same same) {
  const std::uint32_t start = block * kBlock;
  const std::uint32_t count = std::min(kBlock, pattern - start);
  std::uint64_t found = 0;
  for (std::uint32_t i = 0; i < count; ++i) found |= static_cast<std::uint64_t>(same(start + i)) << i;
  return found;
}

// The places of each number of a pattern, found by the number's hash.
class Places {
 public:
  static constexpr std::uint32_t kMost = 1024;  // numbers of a pattern, so that little memory is kept

  Places(std::vector<std::uint64_t>& memory, const Item* pattern, std::uint32_t length)
      : pattern_(pattern), blocks_((length + kBlock - 1) / kBlock), slots_(std::bit_ceil(2 * length)), memory_(memory) {
    memory_.assign(slots_ + (std::size_t{length} + 1) * blocks_, 0);  // a number's first place + 1, and then the places
    for (std::uint32_t j = 0; j < length; ++j) {
      std::uint64_t& first = slot(pattern[j].number);
      if (!first) first = j + 1;
      memory_[slots_ + first * blocks_ + j / kBlock] |= std::uint64_t{1} << j % kBlock;
    }
  }

  // None, for a number that the pattern does not have, are kept as those of the number before the first.
  const std::uint64_t* of(std::int64_t number) { return &memory_[slots_ + slot(number) * blocks_]; }

 private:
  std::uint64_t& slot(std::int64_t number) {
    const std::uint64_t mixed = static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15;
    std::size_t at = (mixed >> 32) & (slots_ - 1);
    while (memory_[at] && pattern_[memory_[at] - 1].number != number) at = (at + 1) & (slots_ - 1);
    return memory_[at];
  }

  const Item* pattern_;
  std::uint32_t blocks_, slots_;
  std::vector<std::uint64_t>& memory_;
};

std::uint32_t of_integers(Machine& machine, const Item* text, std::uint32_t n, const Item* pattern, std::uint32_t m) {
  const auto same = [](const Item& a, const Item& b) { return a.number == b.number; };
  for (; n && m && same(*text, *pattern); --n, --m) ++text, ++pattern;
  for (; n && m && same(text[n - 1], pattern[m - 1]); --n) --m;
  if (!n || !m) return n + m;
  if (m > Places::kMost) {
    return distance(machine, n, m, 2 * kBlock, [&](std::uint32_t i, std::uint32_t block) {
      return scan(block, m, [&](std::uint32_t j) { return same(text[i], pattern[j]); });
    });
  }
  Places places(machine.places, pattern, m);
  return distance(machine, n, m, 4,
                  [&](std::uint32_t i, std::uint32_t block) { return places.of(text[i].number)[block]; });
}

}  // namespace

std::uint32_t levenshtein(Machine& machine, std::u16string_view text, std::u16string_view pattern) {
  const auto front = std::mismatch(text.begin(), text.end(), pattern.begin(), pattern.end());
  text.remove_prefix(static_cast<std::size_t>(front.first - text.begin()));
  pattern.remove_prefix(static_cast<std::size_t>(front.second - pattern.begin()));
  const auto back = std::mismatch(text.rbegin(), text.rend(), pattern.rbegin(), pattern.rend());
  text.remove_suffix(static_cast<std::size_t>(back.first - text.rbegin()));
  pattern.remove_suffix(static_cast<std::size_t>(back.second - pattern.rbegin()));
  const auto n = static_cast<std::uint32_t>(text.size());
  const auto m = static_cast<std::uint32_t>(pattern.size());
  if (!n || !m) return n + m;
  const std::uint32_t blocks = (m + kBlock - 1) / kBlock;
  std::vector<std::uint64_t>& places = machine.places;
  places.assign(std::size_t{kAscii} * blocks, 0);
  for (std::uint32_t j = 0; j < m; ++j) {
    if (pattern[j] < kAscii) places[pattern[j] * blocks + j / kBlock] |= std::uint64_t{1} << j % kBlock;
  }
  return distance(machine, n, m, 4, [&](std::uint32_t i, std::uint32_t block) {
    const char16_t c = text[i];
    return c < kAscii ? places[c * blocks + block] : scan(block, m, [&](std::uint32_t j) { return pattern[j] == c; });
  });
}

std::uint32_t levenshtein(Machine& m, const Item& vector, const Item& pattern) {
  if (!vector.length || !pattern.length) return vector.length + pattern.length;
  if (vector.items[0].kind == Kind::integer && pattern.items[0].kind == Kind::integer) {
    return of_integers(m, vector.items, vector.length, pattern.items, pattern.length);
  }
  return distance(m, vector.length, pattern.length, 2 * kBlock, [&](std::uint32_t i, std::uint32_t block) {
    return scan(block, pattern.length, [&](std::uint32_t j) { return equal(m, vector.items[i], pattern.items[j]); });
  });
}

}  // namespace flexicase::push

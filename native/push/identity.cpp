#include "push/identity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>

namespace flexicase::push {
namespace {

constexpr std::size_t kHead = offsetof(Item, number);  // bytes of an item before its value

// False if there is an instruction from outside the engine.
bool hash(const Item& code, std::vector<Item>& pending, std::uint64_t& result) {
  result = 0;
  pending.assign(1, vector(&code, 1));
  while (!pending.empty()) {
    const Item sequence = pending.back();
    pending.pop_back();
    for (const Item *item = sequence.items, *end = item + sequence.length; item != end; ++item) {
      std::uint64_t words[2] = {};
      std::memcpy(words, item, sizeof(Item));
      if (item->kind == Kind::foreign) return false;
      if (item->kind == Kind::string) words[1] = std::hash<std::u16string_view>{}({item->text, item->length});
      if (is_sequence(*item)) {
        words[1] = 0;
        pending.push_back(*item);
      }
      result = (result ^ (words[0] * 0x9E3779B97F4A7C15) ^ (words[1] * 0xD1B54A32D192ED03)) * 0x8CB92BA72F3D8DD7;
      result ^= result >> 32;
    }
  }
  return true;
}

}  // namespace

bool identical(const Item& a, const Item& b, std::vector<std::pair<Item, Item>>& pending, std::int64_t& budget) {
  const std::size_t floor = pending.size();
  const auto same = [&](const Item& x, const Item& y) {
    if (std::memcmp(&x, &y, sizeof(Item)) == 0) return true;
    if (std::memcmp(&x, &y, kHead) != 0) return false;
    if (x.kind == Kind::string) return !x.length || std::memcmp(x.text, y.text, x.length * sizeof(char16_t)) == 0;
    if (is_sequence(x)) pending.emplace_back(x, y);
    return is_sequence(x);
  };
  bool agree = --budget >= 0 && same(a, b);
  while (agree && pending.size() > floor) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    agree = (budget -= x.length) >= 0 && std::equal(x.items, x.items + x.length, y.items, same);
  }
  pending.resize(floor);
  return agree;
}

std::vector<std::size_t> first_identical(const std::vector<Item>& programs) {
  std::vector<std::size_t> first(programs.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::vector<std::pair<std::uint64_t, std::size_t>> hashed;
  std::vector<Item> open;
  for (const std::size_t i : first) {
    std::uint64_t found = 0;
    if (hash(programs[i], open, found)) hashed.emplace_back(found, i);
  }
  std::sort(hashed.begin(), hashed.end());
  std::vector<std::pair<Item, Item>> pending;
  for (std::size_t i = 0, start = 0; i < hashed.size(); ++i) {
    if (hashed[i].first != hashed[start].first) start = i;
    std::int64_t budget = INT64_MAX;
    const std::size_t earliest = hashed[start].second, program = hashed[i].second;
    if (identical(programs[earliest], programs[program], pending, budget)) first[program] = earliest;
  }
  return first;
}

}  // namespace flexicase::push

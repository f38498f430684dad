#include <algorithm>

#include "push/genome.hpp"
#include "push/population.hpp"

namespace flexicase::push {

Tokens tokens_of(const Item& program) {
  Tokens tokens;
  std::vector<std::pair<Item, std::uint32_t>> open{{program, 0}};  // lists, and how many of their items are done
  tokens.push_back({Mark::open, make(Kind::nil)});
  while (!open.empty()) {
    auto& [list, done] = open.back();
    if (done == list.length) {
      tokens.push_back({Mark::close, make(Kind::nil)});
      open.pop_back();
      continue;
    }
    const Item next = child(list, done++);
    if (is_list(next)) {
      tokens.push_back({Mark::open, make(Kind::nil)});
      open.emplace_back(next, 0);
    } else {
      tokens.push_back({Mark::item, next});
    }
  }
  return tokens;
}

Item gathered(const Tokens& tokens, Arena& arena) {
  std::vector<Item> items;
  std::vector<std::size_t> starts;
  for (const Token& token : tokens) {
    if (token.mark == Mark::item) {
      items.push_back(copied(token.item, arena));
    } else if (token.mark == Mark::open) {
      starts.push_back(items.size());
    } else {
      const std::size_t start = starts.back(), length = items.size() - start;
      starts.pop_back();
      Item* place = arena.take<Item>(length + 1);
      std::reverse_copy(items.begin() + static_cast<std::ptrdiff_t>(start), items.end(), place + 1);
      items.resize(start);
      items.push_back(seal_list(place, static_cast<std::uint32_t>(length), INT64_MAX));
    }
  }
  return items.back();
}

}  // namespace flexicase::push

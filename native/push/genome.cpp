#include "push/genome.hpp"

#include <algorithm>

#include "push/table.hpp"

namespace flexicase::push {
namespace {

enum class Mark : std::uint8_t { item, open, close };

struct Token {
  Mark mark;
  Item item;
};

class Translation {
 public:
  explicit Translation(std::size_t genes) {
    tokens_.reserve(2 * genes);
    static const Item open = instruction("noop_open_paren"), erase = instruction("noop_delete_prev_paren_pair"),
                      noop = instruction("exec_noop");
    open_ = open.number;
    erase_ = erase.number;
    noop_ = noop;
  }

  void read(const Gene& gene) {
    if (gene.silence == Silence::silent) return;
    if (gene.silence == Silence::noop) {
      tokens_.push_back({Mark::item, noop_});
    } else {
      write(gene.item);
    }
    for (std::int32_t i = 0; i < gene.close && !closings_.empty(); ++i) close();
  }

  Item finish(std::int64_t max_points, Arena& arena) {
    while (!closings_.empty()) close();
    std::vector<Item> items;
    items.reserve(tokens_.size() + 1);
    std::vector<std::size_t> starts{0};
    for (const Token& token : tokens_) {
      if (token.mark == Mark::item) {
        items.push_back(token.item);
      } else if (token.mark == Mark::open) {
        starts.push_back(items.size());
      } else {
        gather(items, starts, arena);
      }
    }
    const bool one_list = items.size() == 1 && is_list(items[0]);
    if (!one_list) gather(items, starts, arena);
    return points(items[0]) > max_points ? make(Kind::list) : items[0];
  }

 private:
  void write(const Item& item) {
    const bool is_instruction = item.kind == Kind::instruction;
    if (is_instruction && item.number == erase_) return erase_pair();
    const int count = blocks(item);
    if (count) {
      closings_.push_back(false);
      closings_.insert(closings_.end(), static_cast<std::size_t>(count - 1), true);
    }
    if (!is_instruction || item.number != open_) tokens_.push_back({Mark::item, item});
    if (count) tokens_.push_back({Mark::open, {}});
  }
  void close() {
    const bool opens_next = closings_.back();
    closings_.pop_back();
    tokens_.push_back({Mark::close, {}});
    if (opens_next) tokens_.push_back({Mark::open, {}});
  }
  void erase_pair() {
    std::size_t last = tokens_.size();
    while (last > 0 && tokens_[last - 1].mark != Mark::close) --last;
    if (last == 0) return;
    std::size_t first = --last;
    for (int depth = 1; depth > 0;) {
      --first;
      if (tokens_[first].mark == Mark::close) ++depth;
      if (tokens_[first].mark == Mark::open) --depth;
    }
    tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(last));
    tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  static void gather(std::vector<Item>& items, std::vector<std::size_t>& starts, Arena& arena) {
    const std::size_t start = starts.back(), length = items.size() - start;
    starts.pop_back();
    Item* place = arena.take<Item>(length + 1);
    std::reverse_copy(items.begin() + static_cast<std::ptrdiff_t>(start), items.end(), place + 1);
    items.resize(start);
    items.push_back(seal_list(place, static_cast<std::uint32_t>(length), INT64_MAX));
  }

  std::vector<Token> tokens_;
  std::vector<bool> closings_;  // true: the closing opens the next block
  std::int64_t open_, erase_;
  Item noop_;
};

}  // namespace

Item translate(const std::vector<Gene>& genes, std::int64_t max_points, Arena& arena) {
  Translation translation(genes.size());
  for (const Gene& gene : genes) translation.read(gene);
  try {
    return translation.finish(max_points, arena);
  } catch (const LimitReached&) {
    return make(Kind::list);
  }
}

}  // namespace flexicase::push

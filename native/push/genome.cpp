#include "push/genome.hpp"

#include <algorithm>

#include "push/table.hpp"

namespace flexicase::push {
namespace {

// Code blocks that each row of the table opens.
const std::vector<std::uint8_t>& blocks_of_rows() {
  static const std::vector<std::uint8_t> counts = [] {
    std::vector<std::uint8_t> found;
    for (std::size_t i = 0; i < instructions().size(); ++i) {
      found.push_back(static_cast<std::uint8_t>(blocks(make(Kind::instruction, static_cast<std::int64_t>(i)))));
    }
    return found;
  }();
  return counts;
}

}  // namespace

class Translation {
 public:
  Translation() {
    static const Item open = instruction("noop_open_paren"), erase = instruction("noop_delete_prev_paren_pair"),
                      noop = instruction("exec_noop");
    open_ = open.number;
    erase_ = erase.number;
    noop_ = noop;
  }

  // Lists are made as they close, unless a gene may take parentheses away again.
  void start(const std::vector<Gene>& genes, Arena& arena, Watch& watch) {
    arena_ = &arena;
    watch_ = &watch;
    deferred_ = std::any_of(genes.begin(), genes.end(), [this](const Gene& gene) { return is(gene.item, erase_); });
    tokens_.clear();
    closings_.clear();
    items_.clear();
    starts_.assign(1, 0);
  }

  void read(const Gene& gene) {
    if (gene.silence == Silence::silent) return;
    if (gene.silence == Silence::noop) {
      emit(Mark::item, noop_);
    } else {
      write(gene.item);
    }
    watch_->spend(10);
    for (std::int32_t i = 0; i < gene.close && !closings_.empty(); ++i) close();
  }

  Item finish(std::int64_t max_points) {
    while (!closings_.empty()) close();
    for (const Token& token : tokens_) apply(token.mark, token.item);
    const bool one_list = items_.size() == 1 && is_list(items_[0]);
    if (!one_list) gather();
    return points(items_[0]) > max_points ? make(Kind::list) : items_[0];
  }

 private:
  static bool is(const Item& item, std::int64_t row) { return item.kind == Kind::instruction && item.number == row; }

  void emit(Mark mark, const Item& item = make(Kind::nil)) {
    if (deferred_) {
      tokens_.push_back({mark, item});
    } else {
      apply(mark, item);
    }
  }
  void apply(Mark mark, const Item& item) {
    if (mark == Mark::item) {
      items_.push_back(item);
    } else if (mark == Mark::open) {
      starts_.push_back(items_.size());
    } else {
      gather();
    }
  }
  void write(const Item& item) {
    if (is(item, erase_)) return erase_pair();
    const int count = item.kind == Kind::instruction && static_cast<std::size_t>(item.number) < blocks_.size()
                          ? blocks_[static_cast<std::size_t>(item.number)]
                          : blocks(item);
    if (count) {
      closings_.push_back(0);
      closings_.insert(closings_.end(), static_cast<std::size_t>(count - 1), 1);
    }
    if (!is(item, open_)) emit(Mark::item, item);
    if (count) emit(Mark::open);
  }
  void close() {
    const bool opens_next = closings_.back() != 0;
    closings_.pop_back();
    emit(Mark::close);
    if (opens_next) emit(Mark::open);
  }
  void erase_pair() {
    watch_->spend(static_cast<std::int64_t>(tokens_.size()));
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
  void gather() {
    const std::size_t start = starts_.back(), length = items_.size() - start;
    starts_.pop_back();
    Item* place = arena_->take<Item>(length + 1);
    std::reverse_copy(items_.begin() + static_cast<std::ptrdiff_t>(start), items_.end(), place + 1);
    items_.resize(start);
    items_.push_back(seal_list(place, static_cast<std::uint32_t>(length), INT64_MAX));
  }

  const std::vector<std::uint8_t>& blocks_ = blocks_of_rows();
  std::vector<Token> tokens_;
  std::vector<std::uint8_t> closings_;  // 1: the closing opens the next block
  std::vector<Item> items_;             // of the lists that are open
  std::vector<std::size_t> starts_;     // where each of them begins
  Arena* arena_ = nullptr;
  Watch* watch_ = nullptr;
  bool deferred_ = false;
  std::int64_t open_, erase_;
  Item noop_;
};

Translator::Translator() : translation_(std::make_unique<Translation>()) {}
Translator::~Translator() = default;

Item Translator::operator()(const std::vector<Gene>& genes, std::int64_t max_points, Arena& arena, Watch& watch) {
  Translation& translation = *translation_;
  translation.start(genes, arena, watch);
  try {
    for (const Gene& gene : genes) translation.read(gene);
    return translation.finish(max_points);
  } catch (const LimitReached&) {
    return make(Kind::list);
  }
}

Item translate(const std::vector<Gene>& genes, std::int64_t max_points, Arena& arena, Watch& watch) {
  return Translator()(genes, max_points, arena, watch);
}

}  // namespace flexicase::push

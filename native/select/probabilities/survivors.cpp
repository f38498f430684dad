#include <algorithm>
#include <unordered_map>

#include "flexicase/bits.hpp"
#include "select/probabilities/pool.hpp"
#include "select/probabilities/states.hpp"

namespace flexicase {

namespace {

using Word = std::uint64_t;

constexpr std::size_t few_levels = 16;

// Columns that filter alike, as one: what matters is the sum of their weights, or their number if that is 0.
std::vector<Column> merged(std::vector<Column> columns, Watch& watch) {
  std::vector<Column> kept;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash;
  for (Column& column : columns) {
    if (column.idle()) continue;
    watch.spend(static_cast<std::int64_t>(4 * column.code.size()));
    std::uint64_t hash = column.levels();
    for (const std::uint32_t code : column.code) hash = (hash ^ code) * golden, hash ^= hash >> 32;
    const auto [begin, end] = by_hash.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& found) {
      return kept[found.second].code == column.code && kept[found.second].reach == column.reach;
    });
    if (same != end) {
      kept[same->second].weight += column.weight;
      kept[same->second].count += column.count;
    } else {
      by_hash.emplace(hash, kept.size());
      kept.push_back(std::move(column));
    }
  }
  return kept;
}

// The states are sets of survivors.
class Survivors {
 public:
  Survivors(const Pool& pool, const std::vector<Column>& columns, std::size_t words, Watch& watch)
      : watch_(watch), words_(words), copies_(pool.copies), outcome_(pool.size(), 0.0) {
    for (const Column& column : columns) {
      watch.spend(static_cast<std::int64_t>(4 * few_levels * column.code.size()));
      (column.weight > 0 ? weighted_ : weightless_).push_back(make_filter(column));
      if (column.levels() > few_levels) any_ranks_ = true;
    }
    for (Filter& f : weightless_) f.weight = f.column->count;
    for (std::vector<Filter>* filters : {&weighted_, &weightless_}) {
      std::stable_sort(filters->begin(), filters->end(),
                       [](const Filter& a, const Filter& b) { return a.levels < b.levels; });
    }
  }

  Width width() const { return Width(words_); }
  std::size_t stages() const { return copies_.size(); }
  std::size_t size() const { return 0; }
  std::vector<double> take_outcome() { return std::move(outcome_); }

  std::size_t stage(const Word* set) const {
    return copies_.size() - static_cast<std::size_t>(count_ones(set, static_cast<std::int64_t>(words_)));
  }

  void start(Steps& steps) {
    steps.reserve(1);
    std::fill_n(steps.room(), words_, 0);
    for (std::size_t i = 0; i < copies_.size(); ++i) steps.room()[i / 64] |= Word{1} << i % 64;
    steps.add(1.0);
  }

  void expand(const Word* set, double mass, Steps& steps) {
    steps.shrink(0);
    if (any_ranks_) list_members(set, words_, members_);
    double total = apply(weighted_, set, steps);
    if (steps.size() == 0) total = apply(weightless_, set, steps);  // cases of weight 0 come last
    if (steps.size() == 0) return finish(set, mass);
    const double scale = 1.0 / total;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps.probability(i) *= scale;
      const std::size_t last = only_member(steps.key(i));
      if (last < copies_.size()) {
        outcome_[last] += mass * steps.probability(i);
      } else {
        steps.move(i, kept++);
      }
    }
    steps.shrink(kept);
  }

 private:
  // One case. With few levels: the sets of members on each, and the sets that survive if it is the best.
  struct Filter {
    std::size_t levels;
    std::size_t sets;       // where in sets_: (levels, words), with a tolerance (levels, 2, words)
    std::size_t stride;     // from one level to the next
    std::size_t survivors;  // from a level to its survivors
    const Column* column;
    double weight;
  };

  Filter make_filter(const Column& column) {
    Filter f{column.levels(), sets_.size(), words_, 0, &column, column.weight};
    if (f.levels > few_levels) return f;
    bool exact = true;
    for (std::size_t v = 0; v < f.levels; ++v) exact = exact && column.reach[v] == v;
    if (!exact) {
      f.stride = 2 * words_;
      f.survivors = words_;
    }
    sets_.resize(f.sets + f.levels * f.stride, 0);
    Word* level = sets_.data() + f.sets;
    for (std::size_t v = 0; v < f.levels; ++v, level += f.stride) {
      for (std::size_t i = 0; i < column.code.size(); ++i) {
        const Word bit = Word{1} << i % 64;
        if (column.code[i] == v) level[i / 64] |= bit;
        if (!exact && column.code[i] <= column.reach[v]) level[f.survivors + i / 64] |= bit;
      }
    }
    return f;
  }

  // Adds a step for each case that removes a member; returns the sum of their weights.
  double apply(const std::vector<Filter>& filters, const Word* set, Steps& steps) const {
    double total = 0.0;
    steps.reserve(filters.size() + 1);
    const std::int64_t cost = 5 + static_cast<std::int64_t>(any_ranks_ ? 2 * members_.size() : words_);
    for (const Filter& f : filters) {
      watch_.spend(cost);
      Word* child = steps.room();
      const bool fell = f.levels == 2            ? filter_by_best(f, set, child)
                        : f.levels <= few_levels ? filter_by_sets(f, set, child)
                                                 : filter_by_codes(f, set, child);
      steps.add(f.weight, fell);
      total += fell ? f.weight : 0.0;
    }
    return total;
  }

  // As below, for two levels, the frequent case; without a branch on what is as good as random.
  bool filter_by_best(const Filter& f, const Word* set, Word* child) const {
    const Word* best = sets_.data() + f.sets;
    Word stayed = 0;
    Word fell = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      child[w] = set[w] & best[w];
      stayed |= child[w];
      fell |= set[w] ^ child[w];
    }
    return (stayed != 0) & (fell != 0);
  }

  // Writes the survivors of a case; returns whether a member was removed.
  bool filter_by_sets(const Filter& f, const Word* set, Word* child) const {
    const Word* level = sets_.data() + f.sets;
    for (const Word* end = level + f.levels * f.stride; level != end; level += f.stride) {
      Word found = 0;
      for (std::size_t w = 0; w < words_; ++w) found |= set[w] & level[w];
      if (found != 0) break;
    }
    level += f.survivors;
    Word fell = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      child[w] = set[w] & level[w];
      fell |= set[w] ^ child[w];
    }
    return fell != 0;
  }

  bool filter_by_codes(const Filter& f, const Word* set, Word* child) const {
    const std::vector<std::uint32_t>& code = f.column->code;
    std::uint32_t best = code[members_[0]];
    std::uint32_t worst = best;
    for (const std::uint32_t i : members_) {
      best = std::min(best, code[i]);
      worst = std::max(worst, code[i]);
    }
    const std::uint32_t limit = f.column->reach[best];
    if (worst <= limit) return false;
    width().copy(set, child);
    for (const std::uint32_t i : members_) {
      if (code[i] > limit) child[i / 64] &= ~(Word{1} << i % 64);
    }
    return true;
  }

  // The member of a set of one; otherwise a number that is no member's.
  std::size_t only_member(const Word* set) const {
    std::size_t found = copies_.size();
    for (std::size_t w = 0; w < words_; ++w) {
      if (set[w] == 0) continue;
      if (found != copies_.size() || (set[w] & (set[w] - 1)) != 0) return copies_.size();
      found = 64 * w + static_cast<std::size_t>(lowest_bit(set[w]));
    }
    return found;
  }

  void finish(const Word* set, double mass) {
    list_members(set, words_, members_);
    share_among(members_, copies_, mass, outcome_);
  }

  Watch& watch_;
  std::size_t words_;
  const std::vector<double>& copies_;
  std::vector<double> outcome_;
  std::vector<Word> sets_;
  std::vector<Filter> weighted_;
  std::vector<Filter> weightless_;
  std::vector<std::uint32_t> members_;
  bool any_ranks_ = false;
};

}  // namespace

ExactOutcome solve_by_survivors(const Pool& pool, std::vector<Column> columns, std::uint64_t max_states, Watch& watch) {
  columns = merged(std::move(columns), watch);
  const std::size_t words = (pool.size() + 63) / 64;
  if (max_states == 0) {
    const auto width = static_cast<double>(words);
    const auto cases = static_cast<double>(std::max<std::size_t>(columns.size(), 1));
    max_states = affordable_states(cases * (4 + width), 8 * (width + 5));
  }
  Survivors model(pool, columns, words, watch);
  return propagate(model, max_states);
}

}  // namespace flexicase

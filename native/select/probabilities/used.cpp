#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "flexicase/bits.hpp"
#include "select/probabilities/pool.hpp"
#include "select/probabilities/states.hpp"

namespace flexicase {

namespace {

using Word = std::uint64_t;

bool test(const Word* bits, std::size_t i) { return (bits[i / 64] >> i % 64 & 1) != 0; }
void put(Word* bits, std::size_t i) { bits[i / 64] |= Word{1} << i % 64; }
void drop(Word* bits, std::size_t i) { bits[i / 64] &= ~(Word{1} << i % 64); }

// The states are survivors, cases used, and (with batches) cases drawn for the next filtering.
//
// Cases are numbered by rank, heaviest first. A case is idle for a pool if it removes no member from it or from
// a part of it. Which idle cases have been used often makes no difference, only how many; then those
// of lowest rank represent them, so that states with the same future are the same state.
class UsedCases {
 public:
  UsedCases(const Matrix& matrix, const Pool& pool, std::vector<Column> columns, const KernelOptions& options,
            Watch& watch)
      : watch_(watch),
        options_(options),
        cases_(static_cast<std::size_t>(matrix.original().cols)),
        set_words_((pool.size() + 63) / 64),
        mask_words_((cases_ + 63) / 64),
        limit_(options.random_depth ? cases_
                                    : static_cast<std::size_t>(std::clamp<std::int64_t>(
                                          options.depth, 0, static_cast<std::int64_t>(cases_)))),
        memoryless_(options.batch == 1 && !options.ranked && !options.random_depth && limit_ == cases_ &&
                    options.slippage == 0.0),
        copies_(pool.copies),
        sets_(Width(set_words_), mask_words_),
        outcome_(pool.size(), 0.0),
        child_(set_words_),
        key_(key_words()),
        chance_(cases_) {
    rank_cases();
    if (columns.empty()) {
      load_values(matrix, pool);
      if (options.batch == 1 || sums_are_exact(values_, tolerance_)) find_equal_cases();
    } else {
      for (const std::size_t c : by_rank_) columns_.push_back(std::move(columns[c]));
    }
  }

  std::size_t key_words() const { return 1 + mask_words_ * (options_.batch > 1 ? 2 : 1); }
  Width width() const { return Width(key_words()); }
  std::size_t stages() const { return cases_ + 1; }
  std::size_t size() const { return sets_.size(); }
  std::vector<double> take_outcome() { return std::move(outcome_); }

  std::size_t stage(const Word* key) const { return count(key + 1, key_words() - 1); }

  std::uint64_t affordable() const {
    const auto m = static_cast<double>(cases_);
    const auto words = static_cast<double>(key_words() + 6 + set_words_ + mask_words_);
    return affordable_states((m + 1) * (2 + m / 2 + static_cast<double>(copies_.size()) / 10), 8 * words + 4 * m);
  }

  void start(Steps& steps) {
    std::vector<Word> all(set_words_, 0);
    for (std::size_t i = 0; i < copies_.size(); ++i) put(all.data(), i);
    const std::uint32_t set = intern(all.data());
    if (limit_ == 0) return finish(set, 1.0);
    std::fill(key_.begin(), key_.end(), 0);
    arrive(set, 1.0, 1.0, steps);
  }

  void expand(const Word* from, double mass, Steps& steps) {
    steps.shrink(0);
    const auto set = static_cast<std::uint32_t>(from[0] - 1);
    const Word* used = from + 1;
    const Word* drawn = options_.batch > 1 ? used + mask_words_ : nullptr;
    const std::size_t waiting = drawn != nullptr ? count(drawn, mask_words_) : 0;
    const std::size_t seen = count(used, mask_words_) + waiting + 1;
    double stays = 1.0;
    if (waiting == 0 && options_.slippage > 0) {
      finish(set, mass * options_.slippage);
      stays -= options_.slippage;
    }
    double ends = seen == limit_ ? 1.0 : 0.0;
    if (options_.random_depth) ends = 1.0 / static_cast<double>(cases_ - seen + 1);
    weigh_cases(used, drawn, cases_ - seen + 1);
    const bool filters = waiting + 1 == static_cast<std::size_t>(options_.batch);
    for (std::size_t c = 0; c < cases_; ++c) {
      if (chance_[c] == 0.0) continue;
      watch_.spend(20);
      const double p = chance_[c] * stays;
      std::copy(from, from + key_words(), key_.begin());
      put(key_.data() + key_words() - mask_words_, c);
      std::uint32_t next = set;
      if (filters || ends > 0) next = options_.batch == 1 ? after(set, c) : filtered(set, drawn_cases(key_.data()));
      if (ends > 0) finish(next, mass * p * ends);
      if (ends == 1.0) continue;
      if (filters) {
        arrive(next, p * (1.0 - ends), mass, steps);
      } else {
        pack_equal_cases();
        add(p * (1.0 - ends), steps);
      }
    }
  }

 private:
  static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

  static std::size_t count(const Word* bits, std::size_t words) {
    return static_cast<std::size_t>(count_ones(bits, static_cast<std::int64_t>(words)));
  }

  double weight(std::size_t c) const { return options_.weights.empty() ? 1.0 : options_.weights[by_rank_[c]]; }

  void rank_cases() {
    by_rank_.resize(cases_);
    std::iota(by_rank_.begin(), by_rank_.end(), std::size_t{0});
    if (!options_.weights.empty()) {
      std::stable_sort(by_rank_.begin(), by_rank_.end(),
                       [&](std::size_t a, std::size_t b) { return options_.weights[a] > options_.weights[b]; });
    }
    for (std::size_t c = 0; c < cases_; ++c) {
      if (c == 0 || weight(c) != weight(c - 1)) tie_start_.push_back(c);
    }
    tie_start_.push_back(cases_);
    harmonic_.assign(cases_ + 1, 0.0);
    for (std::size_t n = 1; n <= cases_; ++n) harmonic_[n] = harmonic_[n - 1] + 1.0 / static_cast<double>(n);
  }

  void load_values(const Matrix& matrix, const Pool& pool) {
    const std::vector<double> values = make_values(matrix, pool, watch_);
    const std::vector<double> tolerances = make_tolerances(matrix, options_, watch_);
    for (const std::size_t c : by_rank_) {
      tolerance_.push_back(tolerances[c]);
      for (std::size_t i = 0; i < pool.size(); ++i) values_.push_back(values[i * cases_ + c]);
    }
  }

  // Cases of the same weight, tolerance and errors: which of them were used makes no difference, unless sums of
  // errors depend on their order.
  void find_equal_cases() {
    const auto n = static_cast<std::ptrdiff_t>(copies_.size());
    const auto column = [&](std::size_t c) { return values_.begin() + static_cast<std::ptrdiff_t>(c) * n; };
    std::vector<std::uint8_t> placed(cases_, 0);
    for (std::size_t c = 0; c < cases_; ++c) {
      std::vector<std::size_t> equal;
      for (std::size_t d = c; d < cases_ && weight(d) == weight(c); ++d) {
        watch_.spend(20);
        if (placed[d] != 0 || tolerance_[d] != tolerance_[c]) continue;
        if (!std::equal(column(c), column(c) + n, column(d))) continue;
        placed[d] = 1;
        equal.push_back(d);
      }
      if (equal.size() > 1) equal_cases_.push_back(std::move(equal));
    }
  }

  // Fills chance_ with the probability of each case to be the next one, out of `left` that are left.
  void weigh_cases(const Word* used, const Word* drawn, std::size_t left) {
    const auto is_left = [&](std::size_t c) { return !test(used, c) && (drawn == nullptr || !test(drawn, c)); };
    std::size_t rank = 0;
    double total = 0.0;
    for (std::size_t t = 0; t + 1 < tie_start_.size(); ++t) {
      std::size_t tied = 0;
      for (std::size_t c = tie_start_[t]; c < tie_start_[t + 1]; ++c) tied += is_left(c);
      if (tied == 0) {
        std::fill(chance_.begin() + static_cast<std::ptrdiff_t>(tie_start_[t]),
                  chance_.begin() + static_cast<std::ptrdiff_t>(tie_start_[t + 1]), 0.0);
        continue;
      }
      // Cases of weight 0 are drawn only when no others are left.
      double each = weight(tie_start_[t]) > 0 || total > 0 ? weight(tie_start_[t]) : 1.0;
      if (options_.ranked) each = mean_rank_chance(rank, tied, left);
      for (std::size_t c = tie_start_[t]; c < tie_start_[t + 1]; ++c) chance_[c] = is_left(c) ? each : 0.0;
      rank += tied;
      total += each * static_cast<double>(tied);
    }
    for (double& chance : chance_) chance /= total;
  }

  // Mean over the ranks first + 1 … first + tied of the probability that ranked shuffle takes that rank of n.
  double mean_rank_chance(std::size_t first, std::size_t tied, std::size_t n) const {
    double sum = 0.0;
    for (std::size_t r = first; r < first + tied; ++r) sum += harmonic_[n] - harmonic_[r];
    return sum / static_cast<double>(n) / static_cast<double>(tied);
  }

  // Goes on with the cases used in key_ and these survivors, unless there is nothing to go on for.
  void arrive(std::uint32_t set, double p, double mass, Steps& steps) {
    Word* used = key_.data() + 1;
    if (options_.batch > 1) {
      for (std::size_t w = 0; w < mask_words_; ++w) used[w] |= used[mask_words_ + w];
      std::fill(used + mask_words_, used + 2 * mask_words_, 0);
    }
    key_[0] = set + Word{1};
    const Word* idle = sets_.extra(set);
    if (memoryless_) {
      for (std::size_t w = 0; w < mask_words_; ++w) used[w] |= idle[w];
    }
    Word useful = 0;
    for (std::size_t c = 0; c < cases_; ++c) useful |= !test(used, c) && !test(idle, c);
    if (useful == 0 || count(sets_.key(set), set_words_) == 1) return finish(set, mass * p);
    if (!memoryless_ && options_.batch == 1) pack_idle_cases(idle);
    pack_equal_cases();
    add(p, steps);
  }

  void add(double p, Steps& steps) const {
    steps.reserve(1);
    std::copy(key_.begin(), key_.end(), steps.room());
    steps.add(p);
  }

  // Idle cases of equal weight are alike; under ranked shuffle, so are those between which no other case ranks.
  void pack_idle_cases(const Word* idle) {
    Word* used = key_.data() + 1;
    bool after_idle_tie = false;
    alike_.clear();
    for (std::size_t t = 0; t + 1 < tie_start_.size(); ++t) {
      bool all_idle = true;
      for (std::size_t c = tie_start_[t]; c < tie_start_[t + 1]; ++c) all_idle = all_idle && test(idle, c);
      if (!(options_.ranked && all_idle && after_idle_tie)) pack(used, nullptr);
      for (std::size_t c = tie_start_[t]; c < tie_start_[t + 1]; ++c) {
        if (test(idle, c)) alike_.push_back(c);
      }
      after_idle_tie = all_idle;
    }
    pack(used, nullptr);
  }

  void pack_equal_cases() {
    for (const std::vector<std::size_t>& equal : equal_cases_) {
      alike_ = equal;
      pack(key_.data() + 1, options_.batch > 1 ? key_.data() + 1 + mask_words_ : nullptr);
    }
  }

  // Lets the first of the cases in alike_ be those that are used, and the next ones those that are drawn.
  void pack(Word* used, Word* drawn) {
    std::size_t n_used = 0;
    std::size_t n_drawn = 0;
    for (const std::size_t c : alike_) {
      n_used += test(used, c);
      n_drawn += drawn != nullptr && test(drawn, c);
    }
    for (std::size_t k = 0; k < alike_.size(); ++k) {
      (k < n_used ? put : drop)(used, alike_[k]);
      if (drawn != nullptr) (k >= n_used && k < n_used + n_drawn ? put : drop)(drawn, alike_[k]);
    }
    alike_.clear();
  }

  // The cases of a batch in the order in which their errors are summed.
  std::vector<std::size_t> drawn_cases(const Word* key) const {
    std::vector<std::size_t> drawn;
    for (std::size_t c = 0; c < cases_; ++c) {
      if (test(key + 1 + mask_words_, c)) drawn.push_back(c);
    }
    std::sort(drawn.begin(), drawn.end(), [&](std::size_t a, std::size_t b) { return by_rank_[a] < by_rank_[b]; });
    return drawn;
  }

  std::uint32_t intern(const Word* set) {
    const auto [id, is_new] = sets_.find_or_add(set, Width(set_words_).hash(set));
    if (!is_new) return id;
    if (options_.batch == 1) {
      after_.resize(after_.size() + cases_, unknown);
      list_members(set, set_words_, members_);
      for (std::size_t c = 0; c < cases_; ++c) {
        watch_.spend(static_cast<std::int64_t>(members_.size()));
        if (is_idle(c)) put(sets_.extra(id), c);
      }
    }
    return id;
  }

  // The survivors of one case.
  std::uint32_t after(std::uint32_t set, std::size_t c) {
    const std::size_t at = set * cases_ + c;
    if (after_[at] == unknown) {
      const std::uint32_t found = test(sets_.extra(set), c) ? set : filtered(set, {c});
      after_[at] = found;
    }
    return after_[at];
  }

  std::uint32_t filtered(std::uint32_t set, const std::vector<std::size_t>& batch) {
    const Word* pool = sets_.key(set);
    list_members(pool, set_words_, members_);
    watch_.spend(static_cast<std::int64_t>(2 * members_.size() * batch.size()));
    std::copy(pool, pool + set_words_, child_.begin());
    if (columns_.empty()) {
      filter_values(batch);
    } else {
      filter_codes(columns_[batch[0]]);
    }
    return intern(child_.data());
  }

  void filter_codes(const Column& column) {
    std::uint32_t best = unknown;
    for (const std::size_t i : members_) best = std::min(best, column.code[i]);
    for (const std::size_t i : members_) {
      if (column.code[i] > column.reach[best]) drop(child_.data(), i);
    }
  }

  void filter_values(const std::vector<std::size_t>& batch) {
    sums_.assign(members_.size(), 0.0);
    double tolerance = 0.0;
    for (const std::size_t c : batch) {
      tolerance += tolerance_[c];
      for (std::size_t k = 0; k < members_.size(); ++k) sums_[k] += values_[c * copies_.size() + members_[k]];
    }
    for (double& sum : sums_) {
      if (std::isnan(sum)) sum = std::numeric_limits<double>::infinity();
    }
    if (options_.tolerance == Tolerance::dynamic_mad) {
      spread_.clear();
      for (std::size_t k = 0; k < members_.size(); ++k) {
        spread_.insert(spread_.end(), static_cast<std::size_t>(copies_[members_[k]]), sums_[k]);
      }
      tolerance = median_absolute_deviation(spread_, work_);
    }
    const double limit = *std::min_element(sums_.begin(), sums_.end()) + tolerance;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      if (sums_[k] > limit) drop(child_.data(), members_[k]);
    }
  }

  bool is_idle(std::size_t c) const {
    if (columns_.empty()) {
      const double* errors = &values_[c * copies_.size()];
      return std::all_of(members_.begin(), members_.end(),
                         [&](std::size_t i) { return errors[i] == errors[members_[0]]; });
    }
    const std::vector<std::uint32_t>& code = columns_[c].code;
    const auto [best, worst] = std::minmax_element(members_.begin(), members_.end(),
                                                   [&](std::size_t a, std::size_t b) { return code[a] < code[b]; });
    return code[*worst] <= columns_[c].reach[code[*best]];
  }

  void finish(std::uint32_t set, double mass) {
    list_members(sets_.key(set), set_words_, members_);
    share_among(members_, copies_, mass, outcome_);
  }

  Watch& watch_;
  const KernelOptions& options_;
  std::size_t cases_;
  std::size_t set_words_;
  std::size_t mask_words_;
  std::size_t limit_;  // cases that an event looks at, at most
  bool memoryless_;    // the next case that matters does not depend on how many idle ones were used
  const std::vector<double>& copies_;
  std::vector<std::size_t> by_rank_;
  std::vector<std::size_t> tie_start_;  // where the groups of equal weight start, and the end
  std::vector<double> harmonic_;
  std::vector<Column> columns_;    // by rank; empty if errors are summed or the tolerance depends on the pool, and then
  std::vector<double> values_;     // (cases, pool)
  std::vector<double> tolerance_;  // (cases,)
  std::vector<std::vector<std::size_t>> equal_cases_;
  KeyTable sets_;                     // pools met, each with its idle cases
  std::vector<std::uint32_t> after_;  // (pools, cases) the survivors of each case, if known
  std::vector<double> outcome_;
  std::vector<Word> child_;
  std::vector<Word> key_;
  std::vector<double> chance_;
  std::vector<std::uint32_t> members_;
  std::vector<std::size_t> alike_;
  std::vector<double> sums_;
  std::vector<double> spread_;
  std::vector<double> work_;
};

}  // namespace

ExactOutcome solve_by_used_cases(const Matrix& matrix, const Pool& pool, std::vector<Column> columns,
                                 const KernelOptions& options, std::uint64_t max_states, Watch& watch) {
  UsedCases model(matrix, pool, std::move(columns), options, watch);
  return propagate(model, max_states == 0 ? model.affordable() : max_states);
}

}  // namespace flexicase

#include "flexicase/case_order.hpp"

#include <algorithm>
#include <numeric>

#include "flexicase/normals.hpp"

namespace flexicase {

namespace {

constexpr std::size_t first_sorted = 64;
constexpr std::size_t most_count = 4096;

bool is_count(double weight) {
  return weight <= static_cast<double>(most_count) && weight == static_cast<double>(static_cast<std::int64_t>(weight));
}

double exponential_key(std::uint64_t keys, std::uint64_t low_bits, std::uint32_t c) {
  const std::uint64_t high = case_key(keys, c);
  const std::uint64_t low = case_key(low_bits, c) >> 12;
  const std::uint64_t numerator = (high << 21) | (low << 1) | 1;
  return negative_log_of(static_cast<double>((std::uint64_t{1} << 53) - numerator) * 0x1p-53);
}

constexpr std::int64_t long_stretch = 64;
constexpr double most_exact = 0x1p53;
constexpr double most_whole = 0x1p31 - 1.0;

struct Sum {
  double sum;
  bool is_whole;
};

// The sum of some weights, and whether all of them are whole numbers below 2^31.
Sum summed(const double* weights, std::int64_t count) {
  constexpr std::int64_t lanes = 8;
  double sums[lanes] = {};
  double fractions[lanes] = {};
  const auto add = [&](std::int64_t c, std::int64_t lane) {
    sums[lane] += weights[c];
    fractions[lane] += weights[c] - static_cast<double>(static_cast<std::int32_t>(std::min(weights[c], most_whole)));
  };
  std::int64_t c = 0;
  for (; c + lanes <= count; c += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) add(c + lane, lane);
  }
  for (; c < count; ++c) add(c, 0);
  return {std::accumulate(sums, sums + lanes, 0.0), std::accumulate(fractions, fractions + lanes, 0.0) == 0.0};
}

}  // namespace

CaseOrder::CaseOrder(OrderKind kind, std::int64_t cases) : kind_(kind), cases_(cases) {}

std::size_t CaseOrder::bytes() const {
  return tail_.capacity() * sizeof(Entry) + (wheel_.capacity() + members_.capacity()) * sizeof(double) +
         group_numbers_.capacity() * sizeof(std::int32_t);
}

void CaseOrder::begin(Key key, std::uint64_t event, const double* weights) {
  weights_ = weights;
  state_ = event_state(key, event);
  taken_ = 0;
  tail_filled_ = false;
  sorted_ = 0;
  head_.clear();
  if (cases_ == 0) return;
  if (kind_ == OrderKind::ranked) {
    ranked_.state = lane_state(state_, Lane::ranked);
    group_by_weight();
  } else {
    draw_head();
  }
}

// Whole numbers sum to the same bits in any sequence as long as no sum needs rounding, so that
// stretches of them can be summed apart; other weights are summed one after another.
void CaseOrder::lay_out_wheel() {
  wheel_.clear();
  double total = 0.0;
  bool whole = true;
  for (std::int64_t start = 0; start < cases_ && whole; start += long_stretch) {
    const auto [sum, is_whole] = summed(weights_ + start, std::min(long_stretch, cases_ - start));
    total += sum;
    whole = is_whole && total <= most_exact;
    wheel_.push_back(total);
  }
  stretch_ = whole ? long_stretch : 1;
  if (whole) return;
  wheel_.resize(static_cast<std::size_t>(cases_));
  std::partial_sum(weights_, weights_ + cases_, wheel_.begin());
}

std::int64_t CaseOrder::at_wheel(double spin) const {
  const auto found = std::upper_bound(wheel_.begin(), wheel_.end(), spin);
  std::int64_t c = (found - wheel_.begin()) * stretch_;
  if (stretch_ == 1) return c;
  double sum = found == wheel_.begin() ? 0.0 : *(found - 1);
  while ((sum += weights_[c]) <= spin) ++c;
  return c;
}

void CaseOrder::draw_head() {
  const auto n = static_cast<std::size_t>(cases_);
  if (kind_ == OrderKind::weighted) lay_out_wheel();
  Stream spins{lane_state(state_, Lane::head)};
  for (int spin = 0; spin < head_spins && head_.size() < std::min<std::size_t>(head_cases, n); ++spin) {
    const std::int64_t c = kind_ == OrderKind::weighted ? at_wheel(spins.unit() * wheel_.back())
                                                        : static_cast<std::int64_t>(spins.bounded(n));
    if (std::find(head_.begin(), head_.end(), c) == head_.end()) head_.push_back(c);
  }
}

void CaseOrder::fill_tail() {
  const std::uint64_t keys = lane_state(state_, Lane::keys);
  const std::uint64_t low_bits = lane_state(state_, Lane::low_bits);
  std::vector<std::int64_t> before(head_);
  std::sort(before.begin(), before.end());
  before.push_back(cases_);
  tail_.clear();
  tail_.reserve(static_cast<std::size_t>(cases_));
  std::int64_t c = 0;
  for (const std::int64_t skipped : before) {
    for (; c < skipped; ++c) {
      const auto number = static_cast<std::uint32_t>(c);
      const double clock = kind_ == OrderKind::weighted ? exponential_key(keys, low_bits, number) / weights_[c] : 0.0;
      tail_.push_back({clock, case_key(keys, number), number});
    }
    ++c;
  }
  sorted_ = 0;
  tail_filled_ = true;
}

void CaseOrder::sort_further() {
  const std::size_t further = std::min(tail_.size(), std::max(first_sorted, sorted_ * 4));
  const auto from = tail_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  const auto to = tail_.begin() + static_cast<std::ptrdiff_t>(further);
  if (to != tail_.end()) std::nth_element(from, to, tail_.end());
  std::sort(from, to);
  sorted_ = further;
}

void CaseOrder::take(std::int64_t count, std::vector<std::int64_t>& out) {
  for (; count > 0 && taken_ < cases_; --count, ++taken_) {
    if (kind_ == OrderKind::ranked) {
      out.push_back(next_ranked());
      continue;
    }
    const auto at = static_cast<std::size_t>(taken_);
    if (at < head_.size()) {
      out.push_back(head_[at]);
      continue;
    }
    if (!tail_filled_) fill_tail();
    if (at - head_.size() == sorted_) sort_further();
    out.push_back(tail_[at - head_.size()].at_case);
  }
}

std::size_t CaseOrder::group_of(double weight) {
  if (is_count(weight)) {
    std::int32_t& group = counts_[static_cast<std::size_t>(weight)];
    if (group < 0) {
      group = static_cast<std::int32_t>(group_weights_.size());
      group_weights_.push_back(weight);
    }
    return static_cast<std::size_t>(group);
  }
  const auto [found, added] = group_names_.try_emplace(weight, group_weights_.size());
  if (added) group_weights_.push_back(weight);
  return found->second;
}

void CaseOrder::group_by_weight() {
  const auto n = static_cast<std::size_t>(cases_);
  counts_.resize(most_count + 1, -1);
  for (const double weight : group_weights_) {
    if (is_count(weight)) counts_[static_cast<std::size_t>(weight)] = -1;
  }
  group_names_.clear();
  group_weights_.clear();
  group_numbers_.resize(n);
  std::size_t group = 0;
  for (std::size_t c = 0; c < n; ++c) {
    if (c == 0 || weights_[c] != weights_[c - 1]) group = group_of(weights_[c]);
    group_numbers_[c] = static_cast<std::int32_t>(group);
  }
  const std::size_t groups = group_weights_.size();
  by_weight_.resize(groups);
  std::iota(by_weight_.begin(), by_weight_.end(), std::size_t{0});
  std::sort(by_weight_.begin(), by_weight_.end(),
            [&](std::size_t a, std::size_t b) { return group_weights_[a] > group_weights_[b]; });
  starts_.assign(groups + 1, 0);
  left_.assign(groups, 0);
  for (const std::int32_t g : group_numbers_) ++starts_[static_cast<std::size_t>(g) + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  members_.resize(n);
  for (std::size_t c = 0; c < n; ++c) {
    const auto g = static_cast<std::size_t>(group_numbers_[c]);
    members_[static_cast<std::size_t>(starts_[g] + left_[g]++)] = static_cast<std::int64_t>(c);
  }
}

std::int64_t CaseOrder::next_ranked() {
  const std::uint64_t word = ranked_.word();
  const std::uint32_t bound =
      ranked_.bounded32(static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(cases_ - taken_));
  std::int64_t position = ranked_.bounded32(static_cast<std::uint32_t>(word), bound + 1);
  std::size_t rank = 0;
  while (position >= left_[by_weight_[rank]]) position -= left_[by_weight_[rank++]];
  const std::size_t g = by_weight_[rank];
  std::int64_t* tied = members_.data() + starts_[g];
  const std::int64_t size = left_[g]--;
  const auto chosen = size > 1 ? static_cast<std::int64_t>(ranked_.bounded(static_cast<std::uint64_t>(size))) : 0;
  std::swap(tied[chosen], tied[size - 1]);
  return tied[size - 1];
}

}  // namespace flexicase

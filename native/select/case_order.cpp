#include "flexicase/case_order.hpp"

#include <algorithm>

#include "flexicase/normals.hpp"

namespace flexicase {

namespace {

constexpr std::size_t first_sorted = 64;
constexpr std::size_t few_changes = 16;  // up to one case in so many is put in its new place, instead of all anew

double exponential_key(std::uint64_t keys, std::uint64_t low_bits, std::uint32_t c) {
  const std::uint64_t high = case_key(keys, c);
  const std::uint64_t low = case_key(low_bits, c) >> 12;
  const std::uint64_t numerator = (high << 21) | (low << 1) | 1;
  return negative_log_of(static_cast<double>((std::uint64_t{1} << 53) - numerator) * 0x1p-53);
}

}  // namespace

CaseOrder::CaseOrder(OrderKind kind, std::int64_t cases) : kind_(kind), cases_(cases) {}

std::size_t CaseOrder::bytes() const {
  return known_.capacity() * sizeof(double) + wheel_.bytes() + ranks_.bytes() + tail_.capacity() * sizeof(Entry);
}

void CaseOrder::start(const double* weights, bool anew) {
  weights_ = weights;
  if (kind_ == OrderKind::uniform || !(anew || stale_)) return;
  known_.assign(weights, weights + cases_);
  changes_.clear();
  stale_ = true;
}

void CaseOrder::reweigh(std::int64_t at_case) {
  if (kind_ != OrderKind::uniform) changes_.push_back({at_case, weights_[at_case]});
}

// Brings wheel or ranks up to date.
void CaseOrder::renew() {
  const bool anew = stale_ || changes_.size() * few_changes > known_.size();
  if (kind_ == OrderKind::ranked) ranks_.restore();
  for (const auto& [c, weight] : changes_) {
    double& known = known_[static_cast<std::size_t>(c)];
    const double before = known;
    known = weight;
    if (anew || weight == before) continue;
    if (kind_ == OrderKind::ranked) {
      ranks_.reweigh(c, before, weight);
    } else {
      wheel_.reweigh(c);
    }
  }
  changes_.clear();
  stale_ = false;
  if (kind_ == OrderKind::ranked) {
    if (anew) ranks_.build(known_.data(), cases_);
    ranks_.restore();
  } else {
    if (anew) wheel_.build(known_.data(), cases_);
    wheel_.lay_out();
  }
}

void CaseOrder::begin(Key key, std::uint64_t event) {
  state_ = event_state(key, event);
  taken_ = 0;
  tail_filled_ = false;
  sorted_ = 0;
  head_.clear();
  if (cases_ == 0) return;
  if (kind_ != OrderKind::uniform) renew();
  ranked_.state = lane_state(state_, Lane::ranked);
  spins_.state = lane_state(state_, Lane::head);
  spins_left_ = head_spins;
}

// Draws one more of the first cases; false if they are over.
bool CaseOrder::spin() {
  const auto n = static_cast<std::size_t>(cases_);
  while (spins_left_ > 0 && head_.size() < std::min<std::size_t>(head_cases, n)) {
    --spins_left_;
    const std::int64_t c = kind_ == OrderKind::weighted ? wheel_.at(spins_.unit() * wheel_.total())
                                                        : static_cast<std::int64_t>(spins_.bounded(n));
    if (std::find(head_.begin(), head_.end(), c) != head_.end()) continue;
    head_.push_back(c);
    return true;
  }
  return false;
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
      out.push_back(ranks_.draw(ranked_));
      continue;
    }
    const auto at = static_cast<std::size_t>(taken_);
    if (!tail_filled_ && spin()) {
      out.push_back(head_.back());
      continue;
    }
    if (!tail_filled_) fill_tail();
    if (at - head_.size() == sorted_) sort_further();
    out.push_back(tail_[at - head_.size()].at_case);
  }
}

}  // namespace flexicase

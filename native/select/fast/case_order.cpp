#include "flexicase/case_order.hpp"

#include <algorithm>
#include <limits>

#include "flexicase/normals.hpp"

namespace flexicase {

namespace {

constexpr double first_expected = 32.0;
constexpr std::size_t few_changes = 16;  // if at most one case in so many has changed, only those are updated

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
  head_.clear();
  in_tail_ = false;
  tail_.clear();
  horizon_ = 0.0;
  expected_ = first_expected;
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

// Appends the cases of the tail whose clocks ring next: a few at first, then more, then all. A clock
// rings after an exponential time for weights, which is never shorter than the draw it is made from,
// and at the draw itself without them.
void CaseOrder::extend_tail() {
  const std::uint64_t keys = lane_state(state_, Lane::keys);
  const std::uint64_t low_bits = lane_state(state_, Lane::low_bits);
  const bool weighted = kind_ == OrderKind::weighted;
  const double from = horizon_;
  const double all_weights = weighted ? wheel_.total() : static_cast<double>(cases_);
  horizon_ =
      4.0 * expected_ < static_cast<double>(cases_) ? expected_ / all_weights : std::numeric_limits<double>::infinity();
  expected_ *= 8.0;
  const auto known = static_cast<std::ptrdiff_t>(tail_.size());
  for (std::int64_t c = 0; c < cases_; ++c) {
    const auto number = static_cast<std::uint32_t>(c);
    const std::uint32_t key = case_key(keys, number);
    const double draw = static_cast<double>(key) * 0x1p-32;
    const double weight = weighted ? known_[static_cast<std::size_t>(c)] : 1.0;
    if (draw >= horizon_ * weight) continue;
    const double clock = weighted ? exponential_of_keys(key, case_key(low_bits, number)) / weight : draw;
    if (clock < from || clock >= horizon_ || std::find(head_.begin(), head_.end(), c) != head_.end()) continue;
    tail_.push_back({clock, key, number});
  }
  std::sort(tail_.begin() + known, tail_.end());
}

void CaseOrder::take(std::int64_t count, std::vector<std::int64_t>& out) {
  for (; count > 0 && taken_ < cases_; --count, ++taken_) {
    if (kind_ == OrderKind::ranked) {
      out.push_back(ranks_.draw(ranked_));
      continue;
    }
    if (!in_tail_ && spin()) {
      out.push_back(head_.back());
      continue;
    }
    in_tail_ = true;
    const std::size_t at = static_cast<std::size_t>(taken_) - head_.size();
    while (at == tail_.size()) extend_tail();
    out.push_back(tail_[at].at_case);
  }
}

}  // namespace flexicase

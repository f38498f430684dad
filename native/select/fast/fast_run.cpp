#include "flexicase/fast_run.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace flexicase {

namespace {

enum Count { chosen, evaluations, cases_used, pairs_evaluated, pairs_speculated, candidates_left };
constexpr std::uint8_t one_left = 0;
constexpr std::uint8_t cases_exhausted = 1;
constexpr std::uint8_t truncated = 2;

}  // namespace

void BlockSize::begin() {
  wanted = fixed <= 0 ? 1 : fixed;
  quiet = 0;
}

std::int64_t BlockSize::cases(std::int64_t pool) const {
  return std::max<std::int64_t>(1, std::min(wanted, most_pairs / pool));
}

void BlockSize::observe(const Replayed& step) {
  constexpr std::int64_t most_wanted = std::int64_t{1} << 40;
  if (fixed > 0) return;
  const std::int64_t needed = fixed < 0 ? patience : 0;
  if (step.last_filter < 0) {
    quiet += step.visited;
    if (quiet >= needed) wanted = std::min(wanted * 2, most_wanted);
  } else {
    const std::int64_t before = quiet + step.last_filter;
    quiet = step.visited - step.last_filter - 1;
    const std::int64_t lasted = std::max(before, quiet);
    wanted = lasted < needed ? 1 : lasted;
  }
  wanted = std::max(wanted, least);
}

FastRun::FastRun(const FastPlan& plan)
    : weights_(static_cast<std::size_t>(plan.cases)),
      order_(plan.order, plan.cases),
      replay_(plan.rule),
      depth_(plan.depth),
      random_depth_(plan.random_depth && plan.cases > 0) {
  size_.fixed = plan.lookahead;
  size_.least = plan.least_block;
  size_.most_pairs = plan.most_pairs;
}

void FastRun::start(const FastCall& call) {
  const bool up_to_date = call.version != 0 && call.version == version_;
  call_ = call;
  version_ = 0;
  if (!up_to_date) std::copy_n(call.weights, weights_.size(), weights_.begin());
  order_.start(weights_.data(), !up_to_date);
  renewed_.clear();
  renewed_any_ = false;
  replay_.set_largest(call.w_max);
  event_ = missing_ = 0;
  in_event_ = in_block_ = false;
}

std::uint64_t FastRun::finish(bool all) {
  static std::atomic<std::uint64_t> versions{0};
  if (all || renewed_any_) {
    std::copy(weights_.begin(), weights_.end(), call_.weights);
  } else {
    for (const std::int64_t c : renewed_) call_.weights[c] = weights_[static_cast<std::size_t>(c)];
  }
  return version_ = ++versions;
}

std::size_t FastRun::bytes() const {
  return order_.bytes() + (weights_.capacity() + renewed_.capacity()) * sizeof(double) +
         block_.errors.capacity() * (sizeof(double) + sizeof(std::uint8_t)) +
         (pool_.capacity() + survivors_.capacity()) * sizeof(std::int64_t);
}

void FastRun::begin_event() {
  for (int kind = chosen; kind <= candidates_left; ++kind) count(kind) = 0;
  pool_.resize(static_cast<std::size_t>(call_.cache->individuals()));
  std::iota(pool_.begin(), pool_.end(), std::int64_t{0});
  size_.begin();
  cases_left_ = depth_;
  if (random_depth_) {
    const std::uint64_t state = event_state(call_.key, call_.first_event + static_cast<std::uint64_t>(event_));
    Stream depths{lane_state(state, Lane::depth)};
    cases_left_ = static_cast<std::int64_t>(depths.bounded(weights_.size())) + 1;
  }
  if (pool_.size() > 1) order_.begin(call_.key, call_.first_event + static_cast<std::uint64_t>(event_));
  in_event_ = true;
}

// Draws the next cases and looks up what is known of them; false if no case is left.
bool FastRun::next_block() {
  block_.rows = static_cast<std::int64_t>(pool_.size());
  block_.cases.clear();
  order_.take(std::min(size_.cases(block_.rows), cases_left_), block_.cases);
  if (block_.cases.empty()) return false;
  cases_left_ -= static_cast<std::int64_t>(block_.cases.size());
  block_.errors.resize(block_.cases.size() * pool_.size());
  missing_ = 0;
  for (std::size_t j = 0; j < block_.cases.size(); ++j) {
    missing_ +=
        call_.cache->lookup(pool_.data(), block_.rows, block_.cases[j], block_.errors.data() + j * pool_.size());
  }
  computed_ = missing_;
  block_.all_fresh = missing_ == static_cast<std::int64_t>(block_.errors.size());
  block_.fresh.clear();
  if (missing_ > 0 && !block_.all_fresh) {
    asked_.assign(block_.cases.size(), 0);
    block_.fresh.resize(block_.errors.size());
    for (std::size_t k = 0; k < block_.errors.size(); ++k) block_.fresh[k] = block_.errors[k] != block_.errors[k];
  }
  count(pairs_evaluated) += missing_;
  in_block_ = true;
  return true;
}

void FastRun::next_request() {
  const std::size_t rows = pool_.size();
  if (block_.all_fresh) {
    rows_.resize(rows);
    columns_.resize(block_.cases.size());
    std::iota(rows_.begin(), rows_.end(), std::int64_t{0});
    std::iota(columns_.begin(), columns_.end(), std::int64_t{0});
    individuals_ = pool_;
    cases_ = block_.cases;
    return;
  }
  const auto fresh = [&](std::size_t column) { return block_.fresh.data() + column * rows; };
  std::size_t first = 0;
  while (asked_[first] != 0 || std::find(fresh(first), fresh(first) + rows, 1) == fresh(first) + rows) ++first;
  rows_.clear();
  columns_.clear();
  individuals_.clear();
  cases_.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    if (fresh(first)[row] == 0) continue;
    rows_.push_back(static_cast<std::int64_t>(row));
    individuals_.push_back(pool_[row]);
  }
  for (std::size_t column = first; column < block_.cases.size(); ++column) {
    if (asked_[column] != 0 || std::memcmp(fresh(column), fresh(first), rows) != 0) continue;
    asked_[column] = 1;
    columns_.push_back(static_cast<std::int64_t>(column));
    cases_.push_back(block_.cases[column]);
  }
}

void FastRun::provide_errors(const double* errors) {
  for (std::size_t k = 0; k < cases_.size(); ++k) {
    double* column = block_.errors.data() + columns_[k] * block_.rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) column[rows_[i]] = errors[i * cases_.size() + k];
    call_.cache->store(individuals_, cases_[k], errors + k, static_cast<std::int64_t>(cases_.size()));
  }
  missing_ -= static_cast<std::int64_t>(rows_.size() * cases_.size());
}

void FastRun::replay_block() {
  survivors_.resize(pool_.size());
  std::iota(survivors_.begin(), survivors_.end(), std::int64_t{0});
  const Replayed step = replay_.run(block_, weights_.data(), survivors_);
  size_.observe(step);
  for (std::int64_t j = 0; j < step.visited; ++j) order_.reweigh(block_.cases[static_cast<std::size_t>(j)]);
  note_renewed(step.visited);
  count(evaluations) += step.evaluations;
  count(cases_used) += step.visited;
  count(pairs_speculated) += computed_ - step.fresh_used;
  for (std::size_t k = 0; k < survivors_.size(); ++k) pool_[k] = pool_[static_cast<std::size_t>(survivors_[k])];
  pool_.resize(survivors_.size());
  in_block_ = false;
}

void FastRun::note_renewed(std::int64_t visited) {
  if (renewed_any_) return;
  renewed_.insert(renewed_.end(), block_.cases.begin(), block_.cases.begin() + visited);
  if (renewed_.size() <= weights_.size()) return;
  renewed_.clear();
  renewed_any_ = true;
}

void FastRun::end_event(std::uint8_t reason) {
  const std::uint64_t state = event_state(call_.key, call_.first_event + static_cast<std::uint64_t>(event_));
  Stream picks{lane_state(state, Lane::pick)};
  count(chosen) = pool_[static_cast<std::size_t>(picks.bounded(pool_.size()))];
  count(candidates_left) = static_cast<std::int64_t>(pool_.size());
  call_.ended[event_] = reason;
  ++event_;
  in_event_ = false;
}

FastRun::Status FastRun::advance(std::int64_t budget) {
  while (event_ < call_.events) {
    if (budget < 0) return Status::paused;
    if (!in_event_) {
      begin_event();
      budget -= static_cast<std::int64_t>(pool_.size() + weights_.size());
    }
    if (in_block_ && missing_ > 0) {
      next_request();
      return Status::needs_errors;
    }
    budget -= 100;
    if (in_block_) {
      replay_block();
    } else if (pool_.size() == 1) {
      end_event(one_left);
    } else if (next_block()) {
      budget -= static_cast<std::int64_t>(4 * block_.errors.size());
    } else {
      end_event(count(cases_used) == static_cast<std::int64_t>(weights_.size()) ? cases_exhausted : truncated);
    }
  }
  return Status::done;
}

}  // namespace flexicase

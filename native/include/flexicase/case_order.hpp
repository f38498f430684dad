// The cases of one event, drawn with the weights of the moment and only as far as they are needed.
// The definitions are in flexicase/selection/orders.py; unlike with the walkers of the matrix
// kernels, the weights change from event to event, and what depends on them is kept up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flexicase/case_wheel.hpp"
#include "flexicase/ranked_cases.hpp"
#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

class CaseOrder {
 public:
  CaseOrder(OrderKind kind, std::int64_t cases);

  // weights: (cases,) positive. In an event, only those of cases handed out may change. `anew`: others
  // may have changed since the last event without `reweigh`.
  void start(const double* weights, bool anew);
  // To be told of every case that may have a new weight, which counts from the next event on.
  void reweigh(std::int64_t at_case);

  void begin(Key key, std::uint64_t event);
  // Appends up to `count` further cases.
  void take(std::int64_t count, std::vector<std::int64_t>& out);

  std::size_t bytes() const;

 private:
  struct Entry {
    double clock;
    std::uint32_t key;
    std::uint32_t at_case;
    bool operator<(const Entry& other) const {
      return clock < other.clock || (clock == other.clock && key < other.key);
    }
  };

  struct Change {
    std::int64_t at_case;
    double weight;
  };

  void renew();
  bool spin();
  void extend_tail();

  OrderKind kind_;
  const double* weights_ = nullptr;
  std::int64_t cases_;
  std::uint64_t state_ = 0;
  std::int64_t taken_ = 0;

  std::vector<double> known_;    // the weights that wheel and ranks are made of
  std::vector<Change> changes_;  // since then
  bool stale_ = true;

  CaseWheel wheel_;
  Stream spins_{0};
  int spins_left_ = 0;
  std::vector<std::int64_t> head_;
  bool in_tail_ = false;
  std::vector<Entry> tail_;  // in sequence, those that ring before the horizon
  double horizon_ = 0.0;
  double expected_ = 0.0;  // about how many ring before the next one

  RankedCases ranks_;
  Stream ranked_{0};
};

}  // namespace flexicase

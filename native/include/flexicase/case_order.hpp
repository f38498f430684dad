// The cases of one event, drawn with the weights of the moment and only as far as they are needed.
// The definitions are in flexicase/selection/orders.py; unlike the walkers of the matrix kernels,
// nothing is prepared beforehand, because the weights change from event to event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

class CaseOrder {
 public:
  CaseOrder(OrderKind kind, std::int64_t cases);

  // weights: (cases,) positive; read until the event ends, and only for cases not handed out yet.
  void begin(Key key, std::uint64_t event, const double* weights);
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

  void draw_head();
  void lay_out_wheel();
  std::int64_t at_wheel(double spin) const;
  void fill_tail();
  void sort_further();
  void group_by_weight();
  std::size_t group_of(double weight);
  std::int64_t next_ranked();

  OrderKind kind_;
  const double* weights_ = nullptr;
  std::int64_t cases_;
  std::uint64_t state_ = 0;
  std::int64_t taken_ = 0;

  std::vector<double> wheel_;  // running sums of the weights, where a stretch of cases ends
  std::int64_t stretch_ = 1;   // cases from one of them to the next
  std::vector<std::int64_t> head_;
  std::vector<Entry> tail_;
  std::size_t sorted_ = 0;
  bool tail_filled_ = false;

  Stream ranked_{0};
  std::vector<std::int32_t> counts_;  // the groups of small whole weights, by weight; -1 if there is none
  std::unordered_map<double, std::size_t> group_names_;  // those of all other weights
  std::vector<double> group_weights_;
  std::vector<std::int32_t> group_numbers_;  // (cases,)
  std::vector<std::size_t> by_weight_;       // groups, heaviest first
  std::vector<std::int64_t> starts_;
  std::vector<std::int64_t> left_;
  std::vector<std::int64_t> members_;  // (cases,)
};

}  // namespace flexicase

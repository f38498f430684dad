// The cases of one event, drawn with the weights of the moment and only as far as they are needed.
// The definitions are in flexicase/selection/orders.py; unlike with the cursors of the matrix
// kernels, the weights change from event to event, and what depends on them is kept up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "flexicase/rng.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

// A roulette wheel over the cases whose weights change a few at a time.
class CaseWheel {
 public:
  // weights: (cases,) positive; they must not change until the next call.
  void build(const double* weights, std::int64_t cases);
  void reweigh(std::int64_t at_case);
  // To be called after those, before the wheel is spun.
  void lay_out();

  double total() const { return ends_.back(); }
  // The first case whose running weight sum exceeds the spin, which must be below the total.
  std::int64_t at(double spin) const;

  std::size_t bytes() const { return (sums_.capacity() + regions_.capacity() + ends_.capacity()) * sizeof(double); }

 private:
  void sum_stretch(std::int64_t stretch);
  void sum_region(std::size_t region);

  const double* weights_ = nullptr;
  std::int64_t cases_ = 0;
  bool whole_ = true;            // all weights are whole numbers, and so is every sum
  std::vector<double> sums_;     // weights of the stretches of cases
  std::vector<double> regions_;  // weights of the regions, which are stretches of stretches
  std::vector<double> ends_;     // running sums: of the regions if `whole_`, otherwise of the cases
};

// The cases of a ranked order: groups of equal weight, heaviest first, from which cases are drawn.
class RankedCases {
 public:
  // weights: (cases,) positive.
  void build(const double* weights, std::int64_t cases);
  // Between draws of different events only.
  void reweigh(std::int64_t at_case, double before, double after);

  // Puts back all cases that were drawn.
  void restore();
  // Draws a case from those left and takes it out: an upper bound on the rank, a rank, one of the tied.
  std::int64_t draw(Stream& stream);

  std::size_t bytes() const { return static_cast<std::size_t>(cases_) * 2 * sizeof(std::int32_t); }

 private:
  struct Group {
    double weight;
    std::vector<std::int32_t> members;  // ascending, apart from those drawn, which are at the end
    std::int64_t left;                  // members not drawn
  };
  struct Swap {
    std::size_t group;
    std::int64_t chosen;
    std::int64_t last;
  };

  std::size_t group_of(double weight);
  std::vector<Group>::iterator place_of(double weight);

  std::int64_t cases_ = 0;
  std::int64_t left_ = 0;
  std::vector<Group> groups_;
  std::vector<Swap> swaps_;           // of the draws since `restore`
  std::vector<std::int32_t> counts_;  // while building, the groups of small whole weights, by weight; -1 for none
  std::unordered_map<double, std::size_t> names_;  // those of all other weights
};

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

// Selection events of Fast Lexicase, run until an error is needed that is not known yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "flexicase/case_order.hpp"
#include "flexicase/error_cache.hpp"
#include "flexicase/replay.hpp"

namespace flexicase {

// How many cases to ask for next; the readable twin is flexicase/evaluation/_lookahead.py.
struct BlockSize {
  std::int64_t fixed = 0;  // 0: adapts; -1: adapts once `patience` cases have removed no candidate
  std::int64_t least = 1;  // after the first case of an event, if it adapts
  std::int64_t most_pairs = 0;
  static constexpr std::int64_t patience = 8;
  std::int64_t wanted = 1;
  std::int64_t quiet = 0;

  void begin();
  std::int64_t cases(std::int64_t pool) const;
  void observe(const Replayed& step);
};

// How every event of a selector goes.
struct FastPlan {
  OrderKind order = OrderKind::weighted;
  PoolRule rule;
  std::int64_t cases = 0;
  std::int64_t lookahead = 0;
  std::int64_t least_block = 1;
  std::int64_t most_pairs = 0;
  std::int64_t depth = std::numeric_limits<std::int64_t>::max();  // cases that an event may use
  bool random_depth = false;                                      // drawn for each event, from 1 ... cases
};

// Some events, and what they work on.
struct FastCall {
  ErrorCache* cache = nullptr;
  double* weights = nullptr;  // (cases,) renewed when all is done
  std::uint64_t version = 0;  // of the weights: what the last `finish` on them gave, or 0
  double w_max = 1.0;
  Key key{};
  std::uint64_t first_event = 0;
  std::int64_t events = 0;
  // (6, events) indices, evaluations, cases used, pairs evaluated, pairs speculated, candidates left
  std::int64_t* counts = nullptr;
  std::uint8_t* ended = nullptr;  // (events,)
};

class FastRun {
 public:
  enum class Status { done, needs_errors, paused };

  explicit FastRun(const FastPlan& plan);

  void start(const FastCall& call);
  // Goes on until all events are done, errors are needed, or work of about so many nanoseconds was done.
  Status advance(std::int64_t budget);

  // The errors needed next: of these individuals on these cases. All needed cases on which the same
  // candidates are unknown are asked for together.
  const std::vector<std::int64_t>& individuals() const { return individuals_; }
  const std::vector<std::int64_t>& cases() const { return cases_; }
  // Takes them: (individuals, cases).
  void provide_errors(const double* errors);

  // To be called when all is done: gives the caller's weights their new values, or, if they may have
  // changed since the start, all values; returns a number by which a later call knows that this run's
  // copy of them is up to date.
  std::uint64_t finish(bool all);

  // Working memory, kept from call to call.
  std::size_t bytes() const;

 private:
  void begin_event();
  bool next_block();
  void next_request();
  void replay_block();
  void note_renewed(std::int64_t visited);
  void end_event(std::uint8_t reason);
  std::int64_t& count(int kind) { return call_.counts[kind * call_.events + event_]; }

  FastCall call_;
  std::vector<double> weights_;        // (cases,) current values
  std::vector<std::int64_t> renewed_;  // cases that may have a new one
  bool renewed_any_ = false;           // too many to list
  std::uint64_t version_ = 0;
  CaseOrder order_;
  Replay replay_;
  BlockSize size_;
  Block block_;
  std::vector<std::int64_t> pool_;
  std::vector<std::int64_t> survivors_;
  std::vector<std::uint8_t> asked_;  // (cases of the block,)
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> columns_;
  std::vector<std::int64_t> individuals_;
  std::vector<std::int64_t> cases_;
  std::int64_t depth_;
  bool random_depth_;
  std::int64_t event_ = 0;
  std::int64_t cases_left_ = 0;  // that the event may still use
  std::int64_t computed_ = 0;    // pairs of the block that were unknown
  std::int64_t missing_ = 0;     // those that still are
  bool in_event_ = false;
  bool in_block_ = false;
};

}  // namespace flexicase

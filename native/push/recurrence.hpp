// Runs that repeat themselves. All that a run does follows from its state, so that a run whose state recurs goes round
// until its step limit, and whole rounds can be left out.
#pragma once

#include <cstdint>
#include <vector>

#include "push/item.hpp"

namespace flexicase::push {

class Machine;

// Looks at the state when a list is about to be opened: there are few loops without one. A look first compares sizes,
// and copies the whole state when they recur. The exec stack is shortest at one point of a loop, and there it is looked
// at.
class Recurrence {
 public:
  static constexpr std::int64_t kFirst = 64;  // steps before the first look; the next is after twice as many, and so on

  // Whether a look is due with that many items on the exec stack.
  bool is_due(std::int64_t depth) const { return depth <= depth_; }
  void start() {
    depth_ = INT64_MAX;
    left_ = kLooks;
    copied_ = false;
  }
  void stop() { depth_ = -1; }
  // The number of steps to leave out before this one, for which a list was just taken from the exec stack.
  std::int64_t skip(Machine& m, std::int64_t step);

  std::size_t held_bytes() const { return (before_.capacity() + now_.capacity()) * sizeof(Item); }

 private:
  static constexpr int kLooks = 8;
  static constexpr std::size_t kMostItems = 2000;

  std::int64_t depth_ = -1, step_ = 0;
  int left_ = 0;         // looks
  bool copied_ = false;  // the state is in `before_`
  std::uint64_t sizes_ = 0;
  std::size_t taken_ = 0;  // from the arena
  std::vector<Item> before_, now_;
};

}  // namespace flexicase::push

// The state of a run and what instructions need to work on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "flexicase/rng.hpp"
#include "push/arena.hpp"
#include "push/item.hpp"
#include "push/recurrence.hpp"

namespace flexicase::push {

__extension__ typedef __int128 Wide;

inline constexpr std::int64_t kMaxNumber = 1'000'000'000'000;
inline constexpr double kMaxReal = 1e12, kMinReal = 1e-10;
inline constexpr std::uint32_t kMaxLength = 5000, kMaxHeight = 200, kMaxOutput = 5000;
inline constexpr std::uint32_t kHeightLimit = 10'000;

struct Limits {
  std::int64_t steps = 600;
  std::int64_t points = 1200;
  std::int64_t stack = 100'000;
  std::int64_t memory = std::int64_t{64} << 20;
  std::int64_t code = 1'000'000;
  bool keep_nan = false;
  std::uint64_t seed = 0;  // of the draws of random instructions
};

// Makes a list of the `length` items, in reverse, behind the first place of `place`; throws when it has too many
// points.
Item seal_list(Item* place, std::uint32_t length, std::int64_t max_points);

// The same for items whose points, the list itself included, and height are known.
inline Item measured(Item* place, std::uint32_t length, std::int64_t points, std::uint32_t tallest,
                     std::int64_t max_points) {
  if (points > max_points || tallest >= kHeightLimit) throw LimitReached{Status::code_limit};
  place[0] = make(Kind::nil, points, tallest + 1);
  return sequence(Kind::list, place + 1, length);
}

class Stack {
 public:
  std::int64_t size = 0;

  void push(const Item& item) {
    if (size == capacity_) grow(1);
    base_[size++] = item;
  }
  Item pop() { return base_[--size]; }
  Item& top(std::int64_t depth = 0) { return base_[size - 1 - depth]; }
  const Item& top(std::int64_t depth = 0) const { return base_[size - 1 - depth]; }
  void drop(std::int64_t count) { size -= count; }
  // The place above the top, where an item that was just dropped still is.
  const Item* end() const { return base_ + size; }
  // Room for `count` items on top, which the caller fills.
  Item* extend(std::int64_t count) {
    if (count > capacity_ - size) grow(count);
    Item* place = base_ + size;
    size += count;
    return place;
  }
  void reset(std::int64_t limit) {
    size = 0;
    limit_ = limit;
    capacity_ = std::min(allocated_, limit);
  }
  std::size_t held_bytes() const { return static_cast<std::size_t>(allocated_) * sizeof(Item); }

 private:
  void grow(std::int64_t count);

  std::unique_ptr<Item[]> storage_;
  Item* base_ = nullptr;
  std::int64_t capacity_ = 0, allocated_ = 0, limit_ = 0;
};

// What decides how a run goes on is also in `copy_state` of recurrence.cpp.
class Machine {
 public:
  Stack stacks[kStacks];
  Watch calling{};          // of the thread that called
  Watch* watch = &calling;  // of the thread that runs the machine
  Arena arena{std::size_t{1} << 18, &watch};
  Limits limits;
  std::vector<std::pair<std::int64_t, Item>> tags;  // in increasing order of their numbers
  std::vector<Item> inputs;                         // in1 first
  std::vector<char16_t> output;
  bool has_output = false;
  Item slots[kSlots];  // nil: nothing was written
  std::int64_t steps = 0;
  bool same_on_all_cases = true;  // the run has read no input, and called no instruction from outside
  Recurrence recurrence;
  std::vector<std::pair<Item, Item>> pairs;  // work still to do of a walk over trees
  std::vector<Item> pending, built;
  std::vector<char16_t> scratch;  // text in the making
  std::vector<char> ascii;
  std::vector<std::uint64_t> column, places;  // of a distance between sequences
  Stream draws{0};                            // of random instructions
  std::exception_ptr failure;                 // of the last run that ended with Status::foreign_error

  void reset(const Limits& new_limits);
  // Runs what is on the exec stack.
  Status run();
  // The memory that is kept from run to run.
  std::size_t held_bytes() const;
  // Counts work beyond that of a usual step, in nanoseconds by rough estimate. Instructions whose work depends on the
  // length of something call it, so that a run of any of them is cancelled in time.
  void spend(std::int64_t cost) { watch->spend(cost); }
  // Executes one item that was already taken from the exec stack.
  void step(const Item& item);

  // A list of the given items, first item first; throws when it is larger than any run may make.
  template <class... Items>
  Item list(const Items&... items) {
    Item* const place = list_place(sizeof...(items));
    Item* next = place + sizeof...(items);
    ((*next-- = items), ...);
    return measured(place, sizeof...(items), 1 + (points(items) + ...), std::max({height(items)...}), limits.code);
  }
  // A list whose `length` items, in reverse, the caller has put behind the first place of `place`.
  Item seal(Item* place, std::uint32_t length) { return seal_list(place, length, limits.code); }
  Item* list_place(std::size_t length) { return arena.take<Item>(length + 1); }
  void push_value(const Item& value);
  Item limited(double value) const;
  static Item limited(Wide value, bool big) {
    if (value > kMaxNumber) return integer(kMaxNumber);
    if (value < -kMaxNumber) return integer(-kMaxNumber);
    return integer(static_cast<std::int64_t>(value), big);
  }

 private:
  // Item by item: most lists are short, and have just been written so.
  void open(const Item& list) {
    Item* place = stacks[kExec].extend(list.length);
    for (const Item *item = list.items, *end = item + list.length; item != end;) *place++ = *item++;
  }
  void run_tag(const Item& item);
};

// Are two items equal, kinds included? A list equals a vector with equal elements. Where the language's host looks an
// item up by its hash, a single never equals a double.
bool equal(Machine& m, const Item& a, const Item& b, bool same_precision = false);

inline std::int64_t floored_mod(std::int64_t n, std::int64_t d) {
  const std::int64_t r = d == -1 ? 0 : n % d;  // the least number cannot be divided by -1
  return r != 0 && (r < 0) != (d < 0) ? r + d : r;
}
inline std::int64_t clamp_index(std::int64_t n, std::int64_t low, std::int64_t high) {
  return n > high ? (high < low ? low : high) : (n < low ? low : n);
}

// Code as trees. Nothing here recurses: open lists wait in the machine's own memory.

// A list itself; anything else as a list of one item.
Item as_list(Machine& m, const Item& item);
// A list without its first `count` items; nothing is left of an atom.
Item without_first(Machine& m, const Item& list, std::uint32_t count);
// Puts code in the place of the top `taken` items of the code stack, unless it is too large or too deep.
bool replace_if_fit(Machine& m, std::int64_t taken, const Item& code);
// The sub-tree at a depth-first index; 0 is the tree itself.
Item subtree(const Item& tree, std::int64_t index);
// The tree with the sub-tree at that index replaced.
Item with_subtree(Machine& m, const Item& tree, std::int64_t index, const Item& replacement);
// The tree with every occurrence of `old`, from the leaves up, replaced; `changed` says whether there was one.
Item substituted(Machine& m, const Item& tree, const Item& old, const Item& fresh, bool& changed);
// The first list, in depth-first order, that has the item directly in it; nil if none.
Item container(Machine& m, const Item& tree, const Item& item);

}  // namespace flexicase::push

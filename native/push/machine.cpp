#include "push/machine.hpp"

#include <cmath>
#include <iterator>

#include "push/foreign.hpp"
#include "push/table.hpp"

namespace flexicase::push {
namespace {

constexpr std::int64_t kSlice = 1024;   // steps between looks at the watch
constexpr std::int64_t kStepCost = 20;  // nanoseconds

}  // namespace

void Stack::grow(std::int64_t count) {
  if (count > limit_ - size) throw LimitReached{Status::stack_limit};
  if (size + count > allocated_) {
    const std::int64_t room = std::max<std::int64_t>({size + count, 2 * allocated_, 256});
    std::unique_ptr<Item[]> larger(new Item[static_cast<std::size_t>(room)]);
    if (size) std::memcpy(larger.get(), base_, static_cast<std::size_t>(size) * sizeof(Item));
    storage_ = std::move(larger);
    base_ = storage_.get();
    allocated_ = room;
  }
  capacity_ = std::min(allocated_, limit_);
}

void Machine::reset(const Limits& new_limits) {
  limits = new_limits;
  for (Stack& stack : stacks) stack.reset(limits.stack);
  arena.reset(static_cast<std::size_t>(limits.memory));
  tags.clear();
  inputs.clear();
  output.clear();
  has_output = false;
  std::fill(std::begin(slots), std::end(slots), make(Kind::nil));
  steps = 0;
  same_on_all_cases = true;
  pairs.clear();
  draws.state = limits.seed;
}

std::size_t Machine::held_bytes() const {
  std::size_t total = arena.held_bytes() + recurrence.held_bytes() + tags.capacity() * sizeof tags[0] +
                      inputs.capacity() * sizeof(Item) + (output.capacity() + scratch.capacity()) * sizeof(char16_t) +
                      ascii.capacity() + (column.capacity() + places.capacity()) * sizeof(std::uint64_t) +
                      pairs.capacity() * sizeof pairs[0] + (pending.capacity() + built.capacity()) * sizeof(Item);
  for (const Stack& stack : stacks) total += stack.held_bytes();
  return total;
}

Status Machine::run() {
  Stack& exec = stacks[kExec];
  const Action* const table = actions();
  const std::int64_t limit = limits.steps;
  std::int64_t made = 0, look = Recurrence::kFirst;
  Status status = Status::normal;
  recurrence.stop();
  try {
    while (exec.size && made < limit) {
      if (made >= look) {
        look = 2 * made;
        recurrence.start();
      }
      const std::int64_t start = made, end = std::min({limit, made + kSlice, look});
      while (exec.size && made < end) {
        ++made;
        exec.drop(1);
        const Item* const next = exec.end();
        if (next->kind == Kind::instruction) {
          table[next->number](*this);
        } else if (next->kind <= Kind::string) {
          stacks[stack_of(next->kind)].push(Item{*next});
        } else if (next->kind == Kind::list) {
          if (recurrence.is_due(exec.size)) [[unlikely]] {
            made += recurrence.skip(*this, made);
          }
          open(Item{*next});
        } else {
          step(Item{*next});
        }
      }
      spend(std::min(made - start, kSlice) * kStepCost);
    }
    if (exec.size) status = Status::step_limit;
  } catch (const LimitReached& reached) {
    status = reached.status;
  }
  steps = made;
  return status;
}

void Machine::step(const Item& item) {
  switch (item.kind) {
    case Kind::nil: return;
    case Kind::instruction: return actions()[item.number](*this);
    case Kind::list: return open(item);
    case Kind::input:
      same_on_all_cases = false;
      if (item.number < 1 || item.number > static_cast<std::int64_t>(inputs.size())) {
        throw LimitReached{Status::missing_input};
      }
      return push_value(inputs[static_cast<std::size_t>(item.number - 1)]);
    case Kind::tag:
    case Kind::tagged:
    case Kind::untag:
    case Kind::tagged_code:
    case Kind::tagged_when: return run_tag(item);
    case Kind::foreign:
      same_on_all_cases = false;
      recurrence.stop();
      return item.foreign->run(*this);
    case Kind::symbol: throw LimitReached{Status::unknown_instruction};
    default: return push_value(item);
  }
}

void Machine::push_value(const Item& value) {
  switch (value.kind) {
    case Kind::integer:
    case Kind::real:
    case Kind::boolean:
    case Kind::character:
    case Kind::string: return stacks[stack_of(value.kind)].push(value);
    case Kind::vector:
      if (value.length == 0) {
        for (int s = kVectorInteger; s <= kVectorString; ++s) stacks[s].push(value);
        return;
      }
      switch (value.items[0].kind) {
        case Kind::integer: return stacks[kVectorInteger].push(value);
        case Kind::real: return stacks[kVectorFloat].push(value);
        case Kind::boolean: return stacks[kVectorBoolean].push(value);
        default: return stacks[kVectorString].push(value);
      }
    default: return stacks[kExec].push(value);
  }
}

Item Machine::limited(double value) const {
  if (std::isnan(value)) return real(limits.keep_nan ? value : 0.0);
  if (value > kMaxReal) return real(kMaxReal);
  if (value < -kMaxReal) return real(-kMaxReal);
  return real(value < kMinReal && value > -kMinReal ? 0.0 : value);
}

Item seal_list(Item* place, std::uint32_t length, std::int64_t max_points) {
  std::int64_t total = 1;
  std::uint32_t tallest = 0;
  for (std::uint32_t i = 1; i <= length; ++i) {
    total += points(place[i]);
    if (total > max_points) throw LimitReached{Status::code_limit};
    tallest = std::max(tallest, height(place[i]));
  }
  return measured(place, length, total, tallest, max_points);
}

namespace {

// The language's host takes two references to one object for equal before it looks at values, so NaN equals its copies.
bool same_real(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same_atom(const Item& a, const Item& b, bool same_precision) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::real: return same_real(a.real, b.real) && (!same_precision || a.flag == b.flag || a.real == 0);
    case Kind::string:
      return a.length == b.length && (a.length == 0 || std::memcmp(a.text, b.text, a.length * sizeof(char16_t)) == 0);
    case Kind::tag: return a.number == b.number && a.stack == b.stack;
    case Kind::foreign: return a.foreign == b.foreign;
    default: return a.number == b.number;
  }
}

}  // namespace

bool equal(Machine& m, const Item& a, const Item& b, bool same_precision) {
  if (!is_sequence(a) || !is_sequence(b)) return same_atom(a, b, same_precision);
  const std::size_t floor = m.pairs.size();
  m.pairs.emplace_back(a, b);
  bool same = true;
  while (same && m.pairs.size() > floor) {
    const auto [x, y] = m.pairs.back();
    m.pairs.pop_back();
    if (x.length != y.length) {
      same = false;
    } else if (x.kind != y.kind || x.items != y.items) {
      m.spend(x.length);
      for (std::uint32_t i = 0; i < x.length; ++i) {
        const Item& left = child(x, i);
        const Item& right = child(y, i);
        if (is_sequence(left) && is_sequence(right)) {
          m.pairs.emplace_back(left, right);
        } else if (!same_atom(left, right, same_precision)) {
          same = false;
          break;
        }
      }
    }
  }
  m.pairs.resize(floor);
  return same;
}

}  // namespace flexicase::push

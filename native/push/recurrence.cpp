#include "push/recurrence.hpp"

#include "push/identity.hpp"
#include "push/machine.hpp"

namespace flexicase::push {
namespace {

// A number that is another one for most states that differ.
std::uint64_t sizes_of(const Machine& m) {
  std::uint64_t mixed = m.tags.size() + (m.output.size() << 32) + m.draws.state;
  for (const Stack& stack : m.stacks) mixed = mixed * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(stack.size);
  const Stack& integers = m.stacks[kInteger];
  return integers.size ? mixed + static_cast<std::uint64_t>(integers.top().number) : mixed;
}

std::size_t items_in(const Machine& m) {
  std::size_t count = m.inputs.size() + 2 * m.tags.size();
  for (const Stack& stack : m.stacks) count += static_cast<std::size_t>(stack.size);
  return count;
}

// All that decides how the run goes on, except for memory. Of the output, to which text is only ever added, the length
// tells all.
void copy_state(const Machine& m, std::vector<Item>& state) {
  const auto add_number = [&](std::size_t number) { state.push_back(integer(static_cast<std::int64_t>(number))); };
  state.assign(1, *m.stacks[kExec].end());  // the list
  add_number(m.draws.state);
  add_number(m.output.size());
  state.push_back(boolean(m.has_output));
  for (const Stack& stack : m.stacks) {
    add_number(static_cast<std::size_t>(stack.size));
    state.insert(state.end(), stack.end() - stack.size, stack.end());
  }
  add_number(m.inputs.size());
  state.insert(state.end(), m.inputs.begin(), m.inputs.end());
  for (const auto& [number, item] : m.tags) {
    state.push_back(integer(number));
    state.push_back(item);
  }
}

}  // namespace

std::int64_t Recurrence::skip(Machine& m, std::int64_t step) {
  const std::int64_t depth = m.stacks[kExec].size;
  const std::uint64_t sizes = sizes_of(m);
  if (--left_ == 0) {
    stop();
  } else if (depth != depth_ || sizes != sizes_) {
    depth_ = depth;
    sizes_ = sizes;
    copied_ = false;
  } else if (!copied_ && items_in(m) <= kMostItems) {
    copy_state(m, before_);
    step_ = step;
    taken_ = m.arena.taken();
    copied_ = true;
  } else {
    stop();
    copy_state(m, now_);
    std::int64_t budget = 2 * kMostItems;
    bool same = copied_ && now_.size() == before_.size();
    for (std::size_t i = 0; same && i < now_.size(); ++i) same = identical(now_[i], before_[i], m.pairs, budget);
    if (!same) return 0;
    const std::int64_t period = step - step_, rounds = (m.limits.steps - step) / period;
    return m.arena.has_room_for(m.arena.taken() - taken_, rounds + 1) ? rounds * period : 0;
  }
  return 0;
}

}  // namespace flexicase::push

// Tag instructions.
#include <algorithm>

#include "push/table.hpp"

namespace flexicase::push {
namespace {

using Entry = std::pair<std::int64_t, Item>;

// The entry with the smallest number not below n, or else the one with the smallest number of all.
auto closest(std::vector<Entry>& tags, std::int64_t n) {
  const auto at =
      std::lower_bound(tags.begin(), tags.end(), n, [](const Entry& e, std::int64_t x) { return e.first < x; });
  return at == tags.end() ? tags.begin() : at;
}

void store(Machine& m, std::int64_t n, const Item& item) {
  const auto at =
      std::lower_bound(m.tags.begin(), m.tags.end(), n, [](const Entry& e, std::int64_t x) { return e.first < x; });
  if (at != m.tags.end() && at->first == n) {
    at->second = item;
  } else {
    if (static_cast<std::int64_t>(m.tags.size()) == m.limits.stack) throw LimitReached{Status::stack_limit};
    m.tags.insert(at, {n, item});
  }
}

constexpr std::int64_t kTagNumbers = 10'000;

// Takes a number from the integer stack and makes the tag instruction with that number the next to run.
template <Kind K, StackId S = kExec>
void run_numbered(Machine& m) {
  if (!m.stacks[kInteger].size) return;
  const Wide n = m.stacks[kInteger].pop().number;
  Item item = make(K, static_cast<std::int64_t>((n < 0 ? -n : n) % kTagNumbers));
  if (K == Kind::tag) item.stack = S;
  m.stacks[kExec].push(item);
}

template <StackId S>
void add_integer_tag(Table& t) {
  const std::string name = kStackNames[S];
  t.add("integer_tag_" + name + "_instruction", {"integer", "tag", "exec", name}, run_numbered<Kind::tag, S>, 0, kNone);
}

}  // namespace

void add_integer_tags(Table& t) {
  t.add("integer_tagged_instruction", {"integer", "tag", "exec"}, run_numbered<Kind::tagged>, 0, kNone);
  t.add("integer_untag_instruction", {"integer", "tag", "exec"}, run_numbered<Kind::untag>, 0, kNone);
  add_integer_tag<kExec>(t);
  add_integer_tag<kCode>(t);
  add_integer_tag<kInteger>(t);
  add_integer_tag<kFloat>(t);
  add_integer_tag<kBoolean>(t);
  add_integer_tag<kChar>(t);
  add_integer_tag<kString>(t);
}

void Machine::run_tag(const Item& item) {
  if (item.kind == Kind::tag) {
    // The stack's name ends at the first underscore, so the vector stacks are never found.
    if (item.stack < kVectorInteger && stacks[item.stack].size) store(*this, item.number, stacks[item.stack].pop());
    return;
  }
  if (tags.empty()) return;
  const auto entry = closest(tags, item.number);
  switch (item.kind) {
    case Kind::untag: tags.erase(entry); break;
    case Kind::tagged_code: stacks[kCode].push(entry->second); break;
    case Kind::tagged_when:
      if (stacks[kBoolean].size && stacks[kBoolean].pop().number) stacks[kExec].push(entry->second);
      break;
    default: stacks[kExec].push(entry->second);
  }
}

}  // namespace flexicase::push

#include <algorithm>
#include <utility>

#include "flexicase/case_order.hpp"

namespace flexicase {

namespace {

constexpr std::size_t most_count = 4096;

bool is_count(double weight) {
  return weight <= static_cast<double>(most_count) && weight == static_cast<double>(static_cast<std::int64_t>(weight));
}

}  // namespace

std::size_t RankedCases::group_of(double weight) {
  if (is_count(weight)) {
    std::int32_t& group = counts_[static_cast<std::size_t>(weight)];
    if (group < 0) {
      group = static_cast<std::int32_t>(groups_.size());
      groups_.push_back({weight, {}, 0});
    }
    return static_cast<std::size_t>(group);
  }
  const auto [found, added] = names_.try_emplace(weight, groups_.size());
  if (added) groups_.push_back({weight, {}, 0});
  return found->second;
}

void RankedCases::build(const double* weights, std::int64_t cases) {
  cases_ = cases;
  counts_.assign(most_count + 1, -1);
  names_.clear();
  groups_.clear();
  swaps_.clear();
  std::size_t group = 0;
  for (std::int64_t c = 0; c < cases; ++c) {
    if (c == 0 || weights[c] != weights[c - 1]) group = group_of(weights[c]);
    groups_[group].members.push_back(static_cast<std::int32_t>(c));
  }
  std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) { return a.weight > b.weight; });
}

std::vector<RankedCases::Group>::iterator RankedCases::place_of(double weight) {
  return std::partition_point(groups_.begin(), groups_.end(), [&](const Group& g) { return g.weight > weight; });
}

void RankedCases::reweigh(std::int64_t at_case, double before, double after) {
  const auto c = static_cast<std::int32_t>(at_case);
  const auto old = place_of(before);
  old->members.erase(std::lower_bound(old->members.begin(), old->members.end(), c));
  if (old->members.empty()) groups_.erase(old);
  auto group = place_of(after);
  if (group == groups_.end() || group->weight != after) group = groups_.insert(group, {after, {}, 0});
  group->members.insert(std::lower_bound(group->members.begin(), group->members.end(), c), c);
}

void RankedCases::restore() {
  for (auto swap = swaps_.rbegin(); swap != swaps_.rend(); ++swap) {
    std::vector<std::int32_t>& members = groups_[swap->group].members;
    std::swap(members[static_cast<std::size_t>(swap->chosen)], members[static_cast<std::size_t>(swap->last)]);
  }
  swaps_.clear();
  for (Group& group : groups_) group.left = static_cast<std::int64_t>(group.members.size());
  left_ = cases_;
}

std::int64_t RankedCases::draw(Stream& stream) {
  const std::uint64_t word = stream.word();
  const std::uint32_t bound =
      stream.bounded32(static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(left_--));
  std::int64_t position = stream.bounded32(static_cast<std::uint32_t>(word), bound + 1);
  std::size_t rank = 0;
  while (position >= groups_[rank].left) position -= groups_[rank++].left;
  Group& group = groups_[rank];
  const auto size = static_cast<std::uint64_t>(group.left--);
  const std::uint64_t chosen = size > 1 ? stream.bounded(size) : 0;
  std::swap(group.members[chosen], group.members[size - 1]);
  swaps_.push_back({rank, static_cast<std::int64_t>(chosen), group.left});
  return group.members[size - 1];
}

}  // namespace flexicase

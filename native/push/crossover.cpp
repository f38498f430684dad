// Operators that combine two parents; the first is the child so far.
#include <algorithm>

#include "push/operators.hpp"

namespace flexicase::push {
namespace {

constexpr std::int64_t kFar = INT32_MAX;  // beyond any genome

void alternation(VariationContext& m, const Genes& other) {
  const double rate = m.rate(RateId::alternation_rate), deviation = m.rate(RateId::alignment_deviation);
  const Genes* parents[] = {&m.child, &other};
  std::size_t current = m.coin() ? 1 : 0, at = 0;
  for (std::size_t budget = m.child.size() + other.size(); budget > 0; --budget) {
    if (at >= parents[current]->size() || m.is_too_big(m.next.size())) break;
    if (m.chance(rate)) {
      current = 1 - current;
      const std::int64_t jump = std::clamp(rounded(deviation * m.gaussian()), -kFar, kFar);
      at = static_cast<std::size_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(at) + jump));
    } else {
      m.next.push_back((*parents[current])[at++]);
    }
  }
  m.finish();
}

void uniform_crossover(VariationContext& m, const Genes& other) {
  const std::size_t length = std::max(m.child.size(), other.size());
  for (std::size_t i = 0; i < length; ++i) {
    const Genes& from = m.coin() ? other : m.child;
    if (i < from.size()) m.next.push_back(from[i]);
  }
  m.finish();
}

std::pair<std::size_t, std::size_t> cut_points(VariationContext& m, std::size_t length) {
  const std::size_t a = m.stream.bounded(length + 1), b = m.stream.bounded(length + 1);
  return std::minmax(a, b);
}

void two_point_crossover(VariationContext& m, const Genes& other) {
  const auto [start, end] = cut_points(m, m.child.size());
  const auto [other_start, other_end] = cut_points(m, other.size());
  const auto append = [&m](const Genes& from, std::size_t begin, std::size_t stop) {
    m.next.insert(m.next.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
                  from.begin() + static_cast<std::ptrdiff_t>(stop));
  };
  append(m.child, 0, start);
  append(other, other_start, other_end);
  append(m.child, end, m.child.size());
  m.finish();
}

void combination(VariationContext& m, const Genes& other, double rate) {
  for (std::size_t i = 0; i < m.child.size(); ++i) {
    if (other.empty() || !m.chance(rate)) {
      m.next.push_back(m.child[i]);
      continue;
    }
    const Gene& added = other[i % other.size()];
    const bool before = m.coin();
    m.next.push_back(before ? added : m.child[i]);
    m.next.push_back(before ? m.child[i] : added);
  }
  m.finish();
}

}  // namespace

void cross(VariationContext& m, Operator how, const Genes& other) {
  switch (how) {
    case Operator::alternation: return alternation(m, other);
    case Operator::uniform_crossover: return uniform_crossover(m, other);
    case Operator::two_point_crossover: return two_point_crossover(m, other);
    case Operator::uniform_combination: return combination(m, other, m.rate(RateId::combination_rate));
    default: {
      const double rate = m.rate(RateId::combination_and_deletion_rate);
      combination(m, other, rate);
      return delete_genes(m, rate / (1 + rate));
    }
  }
}

}  // namespace flexicase::push

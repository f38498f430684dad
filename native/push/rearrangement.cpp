// Operators that move, repeat or drop pieces of one parent.
#include <algorithm>

#include "push/operators.hpp"

namespace flexicase::push {
namespace {

// Each gene is marked with the segmenting rate; a segment is a run of genes that are all marked or all not.
void cut(VariationContext& m) {
  m.segments.clear();
  const double rate = m.rate(RateId::segmenting_rate);
  bool last = false;
  for (std::size_t i = 0; i < m.child.size(); ++i) {
    const bool marked = m.chance(rate);
    if (i > 0 && marked != last) m.segments.push_back(i);
    last = marked;
  }
  if (!m.child.empty()) m.segments.push_back(m.child.size());
}

void each_gene_its_segment(VariationContext& m) {
  m.segments.clear();
  for (std::size_t i = 1; i <= m.child.size(); ++i) m.segments.push_back(i);
}

std::size_t start_of(const VariationContext& m, std::size_t segment) { return segment ? m.segments[segment - 1] : 0; }

void copy_segment(VariationContext& m, std::size_t segment) {
  m.next.insert(m.next.end(), m.child.begin() + static_cast<std::ptrdiff_t>(start_of(m, segment)),
                m.child.begin() + static_cast<std::ptrdiff_t>(m.segments[segment]));
}

// Pairs of neighbours, from the first or the second one on (fair coin), change places with the given rate.
void swap_pairs(VariationContext& m, double rate) {
  const std::size_t count = m.segments.size();
  std::size_t i = 0;
  if (m.coin() && count) copy_segment(m, i++);
  for (; i + 1 < count; i += 2) {
    const bool swapped = m.chance(rate);
    copy_segment(m, swapped ? i + 1 : i);
    copy_segment(m, swapped ? i : i + 1);
  }
  if (i < count) copy_segment(m, i);
  m.finish();
}

template <class Change>
void each_segment(VariationContext& m, RateId id, Change change) {
  cut(m);
  const double rate = m.rate(id);
  for (std::size_t i = 0; i < m.segments.size(); ++i) change(i, m.chance(rate));
  m.finish();
}

}  // namespace

void rearrange(VariationContext& m, Operator how) {
  switch (how) {
    case Operator::uniform_reordering: each_gene_its_segment(m); return swap_pairs(m, m.rate(RateId::reordering_rate));
    case Operator::uniform_segment_reordering: cut(m); return swap_pairs(m, m.rate(RateId::reordering_rate));
    case Operator::uniform_segment_transposition:
      return each_segment(m, RateId::transposition_rate, [&](std::size_t i, bool chosen) {
        const auto start = static_cast<std::ptrdiff_t>(m.next.size());
        copy_segment(m, i);
        if (chosen) std::reverse(m.next.begin() + start, m.next.end());
      });
    case Operator::uniform_segment_duplication:
      return each_segment(m, RateId::segment_duplication_rate, [&](std::size_t i, bool chosen) {
        copy_segment(m, i);
        if (chosen) copy_segment(m, i);
      });
    default:
      return each_segment(m, RateId::segment_deletion_rate, [&](std::size_t i, bool chosen) {
        if (!chosen) copy_segment(m, i);
      });
  }
}

}  // namespace flexicase::push

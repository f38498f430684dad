#include "push/variation.hpp"

#include <algorithm>
#include <mutex>

#include "flexicase/parallel.hpp"
#include "push/operators.hpp"

namespace flexicase::push {
namespace {

constexpr std::int64_t kWorthAThread = 20;

bool has_two_parents(Operator how) {
  return (how >= Operator::alternation && how <= Operator::two_point_crossover) ||
         how == Operator::uniform_combination || how == Operator::uniform_combination_and_deletion;
}

// The parents of one child, one after another.
class Parents {
 public:
  Parents(const Population& all, const std::int64_t* next, const std::int64_t* end)
      : all_(all), start_(next), next_(next), end_(end) {}

  bool left() const { return next_ < end_; }
  const Genes& take() { return all_.genomes[static_cast<std::size_t>(*next_++)]; }
  std::int64_t used() const { return next_ - start_; }

 private:
  const Population& all_;
  const std::int64_t *start_, *next_, *end_;
};

// Each gene comes from the same place of the current parent, which is replaced after it with the given rate.
void gene_selection(VariationContext& m, Parents& parents) {
  const double rate = m.rate(RateId::gene_selection_rate);
  const Genes* from = &m.child;
  for (std::size_t i = 0; i < from->size(); ++i) {
    m.next.push_back((*from)[i]);
    if (parents.left() && m.chance(rate)) from = &parents.take();
  }
  m.finish();
}

void apply(VariationContext& m, Operator how, Parents& parents) {
  switch (how) {
    case Operator::reproduction: return;
    case Operator::genesis:
      return m.variation.source->genome(m.stream, m.fresh, m.variation.max_initial_genome, m.child);
    case Operator::gene_selection: return gene_selection(m, parents);
    case Operator::uniform_reordering:
    case Operator::uniform_segment_reordering:
    case Operator::uniform_segment_transposition:
    case Operator::uniform_segment_duplication:
    case Operator::uniform_segment_deletion: return rearrange(m, how);
    default:
      if (has_two_parents(how)) return cross(m, how, parents.take());
      return mutate(m, how);
  }
}

// Whether the child was replaced by a genome that has nothing of its parents.
bool limit_size(VariationContext& m, const Genes& first_parent) {
  if (!m.is_too_big(m.child.size())) return false;
  switch (m.variation.too_big) {
    case TooBig::random: m.variation.source->genome(m.stream, m.fresh, m.variation.max_initial_genome, m.child); break;
    case TooBig::parent: m.child = first_parent; return false;
    case TooBig::empty: m.child.clear(); break;
    default: m.child.resize(m.most_genes()); return false;
  }
  return true;
}

}  // namespace

void draw_pipelines(const Variation& variation, Key key, std::int64_t size, std::int64_t* chosen) {
  const std::vector<double>& below = variation.below;
  for (std::int64_t i = 0; i < size; ++i) {
    Stream stream{lane_state(event_state(key, static_cast<std::uint64_t>(i)), Lane::pipelines)};
    const double at = stream.unit() * below.back();
    chosen[i] = std::upper_bound(below.begin(), below.end() - 1, at) - below.begin();
  }
}

std::int64_t parents_needed(const Pipeline& pipeline, std::int64_t largest) {
  std::int64_t needed = 1;
  for (const Operator how : pipeline) needed += how == Operator::gene_selection ? largest : has_two_parents(how);
  return needed;
}

std::shared_ptr<Population> breed(const Variation& variation, const Population& parents, const Brood& brood, Key key,
                                  int threads, std::int64_t* used) {
  auto children = std::make_shared<Population>();
  children->genomes.resize(static_cast<std::size_t>(brood.size));
  std::mutex lock;
  in_parallel(brood.size, kWorthAThread, threads, [&](std::int64_t begin, std::int64_t end, Watch& watch) {
    Arena* arena = nullptr;
    {
      const std::lock_guard guard(lock);
      arena = &children->add_arena();
    }
    Arena fresh{std::size_t{1} << 14};
    VariationContext context{variation, fresh};
    for (std::int64_t i = begin; i < end; ++i) {
      fresh.reset(SIZE_MAX);
      context.stream = {lane_state(event_state(key, static_cast<std::uint64_t>(i)), Lane::variation)};
      Parents own(parents, brood.parents + brood.first[i], brood.parents + brood.first[i + 1]);
      const Genes& first = own.take();
      context.child = first;
      bool replaced = false;
      for (const Operator how : variation.pipelines[static_cast<std::size_t>(brood.pipelines[i])]) {
        apply(context, how, own);
        replaced |= how == Operator::genesis;
      }
      replaced |= limit_size(context, first);
      Genes& child = children->genomes[static_cast<std::size_t>(i)];
      child = context.child;
      for (Gene& gene : child) gene.item = copied(gene.item, *arena);
      used[i] = replaced ? -own.used() : own.used();
      watch.spend(1000 + 100 * static_cast<std::int64_t>(child.size()));
    }
  });
  return children;
}

}  // namespace flexicase::push

#include "push/population.hpp"

#include <algorithm>
#include <mutex>

#include "flexicase/parallel.hpp"
#include "push/genome.hpp"

namespace flexicase::push {
namespace {

constexpr std::int64_t kWorthAThread = 50;

}  // namespace

Item copied(const Item& item, Arena& arena) {
  if (is_list(item)) return gathered(tokens_of(item), arena);
  Item made = item;
  if (item.kind == Kind::string) {
    auto* text = arena.take<char16_t>(item.length);
    std::copy_n(item.text, item.length, text);
    made.text = text;
  } else if (item.kind == Kind::vector) {
    auto* items = arena.take<Item>(item.length);
    for (std::uint32_t i = 0; i < item.length; ++i) items[i] = copied(item.items[i], arena);
    made.items = items;
  }
  return made;
}

std::shared_ptr<Population> random_population(const GeneSource& source, std::int64_t size, std::int64_t most_genes,
                                              Key key, int threads) {
  auto population = std::make_shared<Population>();
  population->genomes.resize(static_cast<std::size_t>(size));
  std::mutex lock;
  in_parallel(size, kWorthAThread, threads, [&](std::int64_t begin, std::int64_t end, Watch& watch) {
    Arena* arena = nullptr;
    {
      const std::lock_guard guard(lock);
      arena = &population->add_arena();
    }
    for (std::int64_t i = begin; i < end; ++i) {
      Stream stream{lane_state(event_state(key, static_cast<std::uint64_t>(i)), Lane::genesis)};
      auto& genes = population->genomes[static_cast<std::size_t>(i)];
      source.genome(stream, *arena, most_genes, genes);
      for (Gene& gene : genes) gene.item = copied(gene.item, *arena);
      watch.spend(100 * static_cast<std::int64_t>(genes.size()));
    }
  });
  return population;
}

std::shared_ptr<Programs> translate(const Population& population, std::int64_t max_points, int threads) {
  auto programs = std::make_shared<Programs>();
  const auto size = static_cast<std::int64_t>(population.genomes.size());
  programs->items.resize(population.genomes.size());
  std::mutex lock;
  in_parallel(size, kWorthAThread, threads, [&](std::int64_t begin, std::int64_t end, Watch& watch) {
    Arena* arena = nullptr;
    {
      const std::lock_guard guard(lock);
      arena = programs->arenas.emplace_back(std::make_unique<Arena>(std::size_t{1} << 16)).get();
    }
    Translator translator;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      programs->items[i] = translator(population.genomes[i], max_points, *arena, watch);
      watch.spend(100 * static_cast<std::int64_t>(population.genomes[i].size()));
    }
  });
  return programs;
}

}  // namespace flexicase::push

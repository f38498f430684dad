// Populations through many generations of all operators, with bytes changed on the way: fuzz_variation [generations].
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "push/simplify.hpp"
#include "push/table.hpp"
#include "push/variation.hpp"

using namespace flexicase;
using namespace flexicase::push;

namespace {

constexpr std::int64_t kSize = 60;
constexpr auto kOperators = static_cast<std::size_t>(Operator::count);

std::shared_ptr<GeneSource> gene_source() {
  auto source = std::make_shared<GeneSource>();
  const auto add = [&](Draw draw) -> Generator& {
    Generator& made = source->generators.emplace_back();
    made.draw = draw;
    made.high = 12;
    made.real_high = 2;
    made.groups = {u" ", u"abc"};
    made.weights = {1, 3};
    made.stacks = {kExec, kInteger};
    return made;
  };
  for (const Draw draw :
       {Draw::integer, Draw::real, Draw::boolean, Draw::character, Draw::string, Draw::tag, Draw::tagged}) {
    add(draw).words = draw == Draw::string;
  }
  Item* items = source->arena.take<Item>(3);
  for (int i = 0; i < 3; ++i) items[i] = integer(i);
  add(Draw::fixed).item = vector(items, 3);
  for (const char* name : {"exec_if", "exec_rot", "integer_add", "in1", "noop_delete_prev_paren_pair"}) {
    add(Draw::fixed).item = symbol(name);
  }
  source->close_below = {0.5, 0.8, 0.9, 1};
  source->silent_probability = 0.1;
  return source;
}

Variation every_operator() {
  Variation variation;
  variation.source = gene_source();
  for (std::size_t i = 0; i < kOperators; ++i) {
    variation.pipelines.push_back({static_cast<Operator>(i)});
    variation.pipelines.push_back({static_cast<Operator>(i), static_cast<Operator>((i + 7) % kOperators)});
  }
  for (std::size_t i = 0; i < variation.pipelines.size(); ++i) variation.below.push_back(static_cast<double>(i + 1));
  for (auto& values : variation.rates) values = {0.0, 0.05, 0.5, 1.0};
  for (const RateId id : {RateId::alignment_deviation, RateId::integer_deviation, RateId::tag_deviation}) {
    variation.rates[static_cast<std::size_t>(id)] = {0, 10, 1e300};
  }
  variation.max_points = 400;
  variation.max_initial_genome = 40;
  variation.silent_marker = true;
  return variation;
}

std::shared_ptr<Population> next(const Variation& variation, const Population& parents, Key key, int threads) {
  std::int64_t largest = 0;
  for (const auto& genome : parents.genomes) largest = std::max(largest, static_cast<std::int64_t>(genome.size()));
  std::vector<std::int64_t> pipelines(kSize), first{0}, chosen, used(kSize);
  draw_pipelines(variation, key, kSize, pipelines.data());
  for (const std::int64_t pipeline : pipelines) {
    first.push_back(first.back() + parents_needed(variation.pipelines[static_cast<std::size_t>(pipeline)], largest));
  }
  Stream stream{key.k0};
  for (std::int64_t i = 0; i < first.back(); ++i) chosen.push_back(static_cast<std::int64_t>(stream.bounded(kSize)));
  return breed(variation, parents, {pipelines.data(), first.data(), chosen.data(), kSize}, key, threads, used.data());
}

// Changed bytes are refused, or are a population that can be translated.
bool survives(std::string bytes, Stream& stream) {
  bytes[stream.bounded(bytes.size())] ^= static_cast<char>(1 << stream.bounded(8));
  if (stream.bounded(4) == 0) bytes.resize(stream.bounded(bytes.size()));
  try {
    translate(*population_from_bytes(bytes), 1200, 1);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long generations = argc > 1 ? std::atol(argv[1]) : 300;
  constexpr TooBig kReplacements[] = {TooBig::random, TooBig::parent, TooBig::empty, TooBig::truncate};
  Variation variation = every_operator();
  auto population = random_population(*variation.source, kSize, variation.max_initial_genome, {1, 2}, 2);
  Stream stream{3};
  long accepted = 0;
  for (long g = 0; g < generations; ++g) {
    variation.too_big = kReplacements[g % 4];
    const Key key{static_cast<std::uint64_t>(g), 7};
    auto children = next(variation, *population, key, 1);
    const std::string bytes = to_bytes(*children);
    if (bytes != to_bytes(*next(variation, *population, key, 3))) {
      return std::fprintf(stderr, "generation %ld depends on threads\n", g), 1;
    }
    if (to_bytes(*population_from_bytes(bytes)) != bytes)
      return std::fprintf(stderr, "generation %ld: other bytes\n", g), 1;
    for (int i = 0; i < 5; ++i) accepted += survives(bytes, stream);
    const auto programs = translate(*children, 1200, 2);
    for (const Item& program : programs->items) {
      Arena arena{1024};
      const Item less = smaller(smaller(program, stream, arena), stream, arena);
      if (points(less) > 4 * points(program)) return std::fprintf(stderr, "generation %ld: larger\n", g), 1;
    }
    population = std::move(children);  // the memory of the parents goes
  }
  std::printf("%ld generations, %ld of %ld changed files accepted\n", generations, accepted, 5 * generations);
  return 0;
}

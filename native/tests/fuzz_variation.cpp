// Populations through many generations of all operators, with bytes changed on the way: fuzz_variation [generations].
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "fuzz_populations.hpp"
#include "push/population.hpp"

using namespace flexicase;
using namespace flexicase::push;
using namespace flexicase::push::fuzz;

namespace {

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

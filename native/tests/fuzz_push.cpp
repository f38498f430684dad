// Runs random programs, nested and growing ones among them, on random inputs: fuzz_push [programs] [seed].
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "push/genome.hpp"
#include "push/measures.hpp"
#include "push/table.hpp"

using namespace flexicase::push;

namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

Item random_number(Random& random) {
  static constexpr std::int64_t kExtremes[] = {0, 1, -1, 2, 127, 5000, kMaxNumber, -kMaxNumber, INT64_MAX, INT64_MIN};
  return integer(below(random, 4) ? below(random, 20) - 5 : kExtremes[below(random, 10)]);
}

Item random_text(Random& random, Arena& arena) {
  const auto length = static_cast<std::uint32_t>(below(random, 8));
  auto* text = arena.take<char16_t>(length);
  for (std::uint32_t i = 0; i < length; ++i)
    text[i] = static_cast<char16_t>(below(random, below(random, 9) ? 128 : 65536));
  return string(text, length);
}

Item random_vector(Random& random, Arena& arena) {
  const auto length = static_cast<std::uint32_t>(below(random, 6));
  const std::int64_t kind = below(random, 4);
  Item* items = arena.take<Item>(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    switch (kind) {
      case 0: items[i] = random_number(random); break;
      case 1: items[i] = real(static_cast<double>(below(random, 2000)) / 64 - 9); break;
      case 2: items[i] = boolean(below(random, 2)); break;
      default: items[i] = random_text(random, arena);
    }
  }
  return vector(items, length);
}

Item random_item(Random& random, Arena& arena) {
  static const std::string kGrowing[] = {"exec_y",        "exec_s",         "exec_do*times", "vector_integer_concat",
                                         "string_concat", "exec_dup_items", "code_map",      "code_append",
                                         "code_list",     "exec_do*while",  "code_cons",     "vector_string_pushall",
                                         "code_insert",   "string_replace", "code_subst",    "tag_exec_3",
                                         "tagged_2",      "tag_code_7",     "exec_do*range", "code_quote"};
  switch (below(random, 16)) {
    case 0: return random_number(random);
    case 1:
      return real(
          std::ldexp(static_cast<double>(below(random, 2000) - 1000), static_cast<int>(below(random, 80)) - 40));
    case 2: return boolean(below(random, 2));
    case 3: return character(static_cast<char16_t>(below(random, 65536)));
    case 4: return random_text(random, arena);
    case 5: return random_vector(random, arena);
    case 6: return make(Kind::input, 1 + below(random, 3));
    case 7:
    case 8:
    case 9: return symbol(kGrowing[below(random, std::size(kGrowing))]);
    default: return make(Kind::instruction, below(random, static_cast<std::int64_t>(instructions().size())));
  }
}

// Every measure on every stack that it takes, against random targets; false if an error is negative or not finite.
bool measure_all(Machine& machine, Random& random, Arena& arena) {
  for (int measure = 0; measure < static_cast<int>(Measure::custom); ++measure) {
    for (int stack = 0; stack <= kStacks; ++stack) {
      const Item targets[] = {random_number(random), real(0.5), random_text(random, arena),
                              random_vector(random, arena)};
      for (const Item& target : targets) {
        const Question question{stack, static_cast<Measure>(measure), 7, 9, 4, below(random, 2) ? u"1" : u"*?"};
        if (mistake(question, target)) continue;
        Item place;
        const double error = error_of(machine, question, answer(machine, question, place), target);
        if (!(error >= 0 && std::isfinite(error))) return false;
      }
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const long programs = argc > 1 ? std::atol(argv[1]) : 20'000;
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  Machine machine;
  long ended[8] = {};
  for (long p = 0; p < programs; ++p) {
    Arena arena{4096};
    std::vector<Gene> genes;
    const std::int64_t length = 1 + below(random, 200);
    for (std::int64_t i = 0; i < length; ++i) {
      genes.push_back({random_item(random, arena), below(random, 4) ? 0 : static_cast<std::int32_t>(below(random, 3)),
                       Silence::none});
    }
    Limits limits;
    limits.steps = below(random, 20) ? 600 : 5000;
    if (below(random, 10) == 0) limits.stack = 300, limits.memory = 1 << 20;
    machine.reset(limits);
    machine.has_output = below(random, 8) != 0;
    for (int i = 0; i < 3; ++i) machine.inputs.push_back(i ? random_vector(random, arena) : random_number(random));
    machine.stacks[kExec].push(translate(genes, limits.points, arena));
    const Status status = machine.run();
    if (machine.steps > limits.steps) return std::fprintf(stderr, "program %ld went over its step limit\n", p), 1;
    if (!measure_all(machine, random, arena)) return std::fprintf(stderr, "program %ld has no error\n", p), 1;
    ++ended[static_cast<int>(status)];
  }
  std::printf("%ld programs: %ld normal, %ld step, %ld stack, %ld memory, %ld code limit\n", programs, ended[0],
              ended[1], ended[2], ended[3], ended[4]);
  return 0;
}

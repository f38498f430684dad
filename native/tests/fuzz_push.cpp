// Runs hostile programs and checks what every run must keep to: fuzz_push [programs] [seed].
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz_programs.hpp"
#include "push/measures.hpp"
#include "push/text.hpp"

using namespace flexicase::push;
using namespace flexicase::push::fuzz;

namespace {

[[noreturn]] void fail(long program, const std::string& what) {
  std::fprintf(stderr, "program %ld: %s\n", program, what.c_str());
  std::exit(1);
}

bool belongs(const Item& item, int stack) {
  constexpr Kind kinds[] = {Kind::integer, Kind::real, Kind::boolean, Kind::character, Kind::string};
  constexpr Kind elements[] = {Kind::integer, Kind::real, Kind::boolean, Kind::string};
  if (stack < kInteger) return true;
  if (stack < kVectorInteger) return item.kind == kinds[stack - kInteger];
  if (item.kind != Kind::vector) return false;
  for (std::uint32_t i = 0; i < item.length; ++i) {
    if (item.items[i].kind != elements[stack - kVectorInteger]) return false;
  }
  return true;
}

// Reads all that a run left behind.
void check(Machine& m, long program, std::vector<char16_t>& text) {
  if (m.steps > m.limits.steps) fail(program, "went over its step limit");
  if (static_cast<std::int64_t>(m.tags.size()) > m.limits.stack) fail(program, "has too many tags");
  if (m.output.size() > kMaxOutput) fail(program, "printed too much");
  if (m.arena.used() > static_cast<std::size_t>(m.limits.memory)) fail(program, "went over its memory limit");
  for (int s = 0; s < kStacks; ++s) {
    Stack& stack = m.stacks[s];
    if (stack.size > m.limits.stack) fail(program, "went over its stack limit");
    for (std::int64_t depth = 0; depth < std::min<std::int64_t>(stack.size, 3); ++depth) {
      const Item& item = stack.top(depth);
      if (!belongs(item, s)) fail(program, std::string("left a wrong kind on ") + kStackNames[s]);
      if (s < kInteger && points(item) > std::max<std::int64_t>(m.limits.code, 100'000))
        fail(program, "made huge code");
      text.clear();
      write_readable(m, item, text, 1000);
      if (depth == 0 && !equal(m, item, item)) fail(program, "left an item that differs from itself");
    }
  }
}

bool finite(const Item& item) {
  if (item.kind == Kind::real) return std::isfinite(item.real);
  for (std::uint32_t i = 0; item.kind == Kind::vector && i < item.length; ++i) {
    if (!finite(item.items[i])) return false;
  }
  return true;
}

// Every measure on every stack that it takes, against random targets: errors are finite and not negative.
void measure_all(Machine& machine, long program, Random& random, ByteReader& bytes) {
  const Item targets[] = {bytes.number(), real(0.5), bytes.text(), bytes.vector_of()};
  for (int measure = 0; measure < static_cast<int>(Measure::custom); ++measure) {
    for (int stack = 0; stack <= kStacks; ++stack) {
      for (const Item& target : targets) {
        const Question question{stack, static_cast<Measure>(measure), 7, 9, 4, below(random, 2) ? u"1" : u"*?"};
        if (!finite(target) || !fits_stack(question) || !fits_target(question.measure, target)) continue;
        Item place;
        const double error = error_of(machine, question, answer(machine, question, place), target);
        if (!(error >= 0 && std::isfinite(error)))
          fail(program, std::string("has no error by ") + kMeasureNames[measure]);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long programs = argc > 1 ? std::atol(argv[1]) : 20'000;
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  Machine machine;
  std::vector<char16_t> text;
  long ended[8] = {};
  long long steps = 0;
  for (long p = 0; p < programs; ++p) {
    Arena arena{1 << 14};
    const std::vector<std::uint8_t> drawn = random_bytes(random, below(random, below(random, 8) ? 300 : 1500));
    ByteReader bytes(drawn, arena);
    const Limits limits = random_limits(random);
    std::vector<Item> inputs = {bytes.vector_of(), bytes.text(), bytes.vector_of()};
    if (below(random, 8) == 0) inputs.push_back(bytes.atom());
    const std::int64_t way = below(random, 8);
    const Item program = way < 3   ? genome_program(random, arena, bytes, limits.points)
                         : way < 6 ? bytes.program()
                                   : growing_program(random, arena, bytes);
    std::int64_t first_steps = 0;
    Status first_status = Status::normal;
    for (int round = 0; round < (p % 64 == 0 ? 2 : 1); ++round) {
      machine.reset(limits);
      machine.inputs = inputs;
      machine.has_output = below(random, 8) != 0 || p % 64 == 0;
      machine.stacks[kExec].push(program);
      const Status status = machine.run();
      check(machine, p, text);
      if (round == 1 && (status != first_status || machine.steps != first_steps)) fail(p, "ended otherwise when rerun");
      first_status = status;
      first_steps = machine.steps;
    }
    if (p % 16 == 0) measure_all(machine, p, random, bytes);
    steps += first_steps;
    ++ended[static_cast<int>(first_status)];
    if (machine.held_bytes() > std::size_t{256} << 20) fail(p, "left the machine with too much memory");
  }
  std::printf(
      "%ld programs, %lld steps: %ld normal, %ld step limit, %ld stack limit, %ld memory limit, %ld code limit, "
      "%ld unknown instruction, %ld missing input; %zu MB kept\n",
      programs, steps, ended[0], ended[1], ended[2], ended[3], ended[4], ended[5], ended[6],
      machine.held_bytes() >> 20);
  return 0;
}

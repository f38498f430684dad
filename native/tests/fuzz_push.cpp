// Runs hostile programs, compares each run with the plain loop, and checks what every run must keep to: fuzz_push
// [programs] [seed].
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz_programs.hpp"
#include "push/batch.hpp"
#include "push/foreign.hpp"
#include "push/identity.hpp"
#include "push/population.hpp"
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

// Each goes round and round, most with a state that recurs.
constexpr std::string_view kRepeating[] = {
    "exec_y ( ? )",
    "exec_y ( ? ? ? )",
    "exec_y ( exec_y ( ? ) exec_pop ( ? ) )",
    "exec_y ( 3 exec_do*times ( ? integer_pop boolean_pop ) )",
    "exec_y ( in1 vector_integer_reverse vector_integer_pop ? )",
    "exec_y ( in2 string_reverse string_flush ? )",
    "exec_y ( in2 exec_string_iterate ( char_pop ) ? )",
    "exec_do*while ( true ? )",
    "1 exec_y ( integer_inc 5 integer_mod )",
    "1 exec_y ( integer_inc 700 integer_mod ? )",
    "1000000 exec_do*range ( ? integer_pop )",
    "0 1000000 exec_do*range ( integer_pop ? )",
    "tag_exec_1 ( tagged_1 ) tagged_1",
    "tag_exec_1 ( ? tagged_1 ) tagged_1",
    "5 tag_integer_2 exec_y ( untag_2 6 tag_integer_2 tagged_2 integer_pop )",
    "exec_y ( integer_rand integer_pop )",
    "exec_y ( boolean_rand exec_when ( 1 ) integer_flush )",
    "exec_y ( file_readchar char_pop )",
    "exec_y ( file_begin file_readchar char_pop )",
    "exec_y ( print_newline )",
    "exec_y ( 1 print_integer ? )",
    "exec_y ( count_calls integer_pop )",
    "exec_y ( ? count_calls 200 integer_gt exec_when ( exec_flush ) )",
    "count_calls exec_y ( integer_pop ? )",
    "code_quote ( 1 ( 2 ) ) exec_y ( code_dup code_wrap code_pop )",
    "code_quote ( ? ) exec_y ( code_do ? )",
    "1.5 exec_y ( -0.0 float_mult float_negate )",
};

// An instruction from outside whose runs differ: the number of its calls decides what it does.
class CountCalls final : public Foreign {
 public:
  CountCalls() : Foreign("count_calls", 0, "->integer/0") {}
  void run(Machine& m) const override {
    if (++calls % 1000 == 0) throw LimitReached{Status::foreign_error};
    m.stacks[kInteger].push(integer(calls));
  }
  mutable std::int64_t calls = 0;
};

Limits repeating_limits(Random& random) {
  Limits limits = random_limits(random);
  limits.steps = 1 + below(random, below(random, 4) ? 2000 : 50'000);
  if (below(random, 3) == 0) limits.memory = std::int64_t{1} << (18 + below(random, 3));
  return limits;
}

void start(Machine& m, const Item& program, const std::vector<Item>& inputs, const Limits& limits, bool output) {
  m.reset(limits);
  m.inputs = inputs;
  m.has_output = output;
  m.stacks[kExec].push(program);
}

// What `Machine::run` does, without any of its shortcuts.
Status run_plainly(Machine& m) {
  Stack& exec = m.stacks[kExec];
  try {
    while (exec.size && m.steps < m.limits.steps) {
      ++m.steps;
      m.step(exec.pop());
    }
  } catch (const LimitReached& reached) {
    return reached.status;
  }
  return exec.size ? Status::step_limit : Status::normal;
}

void check_identical(const Item& a, const Item& b, long program, const char* where) {
  static std::vector<std::pair<Item, Item>> pending;
  std::int64_t budget = INT64_MAX;
  if (!identical(a, b, pending, budget)) fail(program, std::string("left other items than the plain loop: ") + where);
}

void compare(const Machine& m, const Machine& plain, long program) {
  if (m.steps != plain.steps) fail(program, "made another number of steps than the plain loop");
  for (int s = 0; s < kStacks; ++s) {
    const Stack &a = m.stacks[s], &b = plain.stacks[s];
    if (a.size != b.size) fail(program, std::string("left a stack of another size: ") + kStackNames[s]);
    for (std::int64_t i = 0; i < a.size; ++i) check_identical(a.top(i), b.top(i), program, kStackNames[s]);
  }
  if (m.tags.size() != plain.tags.size()) fail(program, "left other tags than the plain loop");
  for (std::size_t i = 0; i < m.tags.size(); ++i) {
    if (m.tags[i].first != plain.tags[i].first) fail(program, "left other tags than the plain loop");
    check_identical(m.tags[i].second, plain.tags[i].second, program, "tags");
  }
  for (std::size_t i = 0; i < m.inputs.size(); ++i) check_identical(m.inputs[i], plain.inputs[i], program, "inputs");
  for (int i = 0; i < kSlots; ++i) check_identical(m.slots[i], plain.slots[i], program, "slots");
  if (m.output != plain.output || m.has_output != plain.has_output) fail(program, "printed something else");
  if (m.draws.state != plain.draws.state) fail(program, "drew another number of random values");
}

// A batch with copies of programs must give the errors, steps and failures of runs one by one.
void compare_batch(const std::vector<Item>& programs, const std::vector<Item>& inputs, const Limits& limits,
                   Random& random, long program) {
  Cases cases;
  for (std::size_t c = 0; c < 5; ++c) {
    cases.inputs.push_back(inputs);
    std::rotate(cases.inputs.back().begin(), cases.inputs.back().begin() + c % inputs.size(),
                cases.inputs.back().end());
    cases.targets.insert(cases.targets.end(), {integer(3), string(u"12", 2)});
  }
  const std::vector<Question> questions = {{kInteger, Measure::absolute, 7}, {kStacks, Measure::levenshtein, 9}};
  std::vector<std::int64_t> rows, columns;
  for (std::size_t i = 0; i < programs.size() * 5; ++i) {
    if (below(random, 20) == 0) continue;
    rows.push_back(static_cast<std::int64_t>(i / 5));
    columns.push_back(static_cast<std::int64_t>(i % 5));
  }
  std::vector<double> expected(2 * rows.size()), errors(2 * rows.size());
  std::int64_t steps = 0, failed = 0;
  Machine m;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto c = static_cast<std::size_t>(columns[i]);
    start(m, programs[static_cast<std::size_t>(rows[i])], cases.inputs[c], limits, true);
    failed += run_plainly(m) == Status::foreign_error;
    steps += m.steps;
    measure(m, cases, c, questions, &expected[2 * i]);
  }
  Failures failures;
  const Pairs pairs{rows.data(), columns.data(), static_cast<std::int64_t>(rows.size())};
  const int threads = 1 + static_cast<int>(below(random, 2));
  const std::int64_t made = evaluate(programs, cases, pairs, limits, questions, threads, errors.data(), failures);
  if (made != steps || errors != expected || failures.count != failed) fail(program, "has another outcome in a batch");
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
  static const CountCalls outside;
  add_foreign(&outside);
  Machine machine, plain;
  std::vector<char16_t> text;
  long ended[8] = {};
  long long steps = 0;
  for (long p = 0; p < programs; ++p) {
    Arena arena{1 << 14};
    const std::vector<std::uint8_t> drawn = random_bytes(random, below(random, below(random, 8) ? 300 : 1500));
    ByteReader bytes(drawn, arena);
    const std::int64_t way = below(random, 10);
    const Limits limits = way < 8 ? random_limits(random) : repeating_limits(random);
    std::vector<Item> inputs = {bytes.vector_of(), bytes.text(), bytes.vector_of()};
    if (below(random, 8) == 0) inputs.push_back(bytes.atom());
    const Item program = way < 3   ? genome_program(random, arena, bytes, limits.points)
                         : way < 6 ? bytes.program()
                         : way < 8 ? growing_program(random, arena, bytes)
                                   : written_program(kRepeating[below(random, std::size(kRepeating))], arena, bytes);
    const bool output = below(random, 8) != 0;
    outside.calls = 0;
    start(machine, program, inputs, limits, output);
    const Status status = machine.run();
    check(machine, p, text);
    const std::int64_t calls = std::exchange(outside.calls, 0);
    start(plain, program, inputs, limits, output);
    if (status != run_plainly(plain)) fail(p, "ended in another way than in the plain loop");
    compare(machine, plain, p);
    if (calls != outside.calls) fail(p, "called an instruction from outside more or less often than the plain loop");
    if (p % 16 == 0) measure_all(machine, p, random, bytes);
    if (p % 64 == 0 && !calls) {
      compare_batch({program, copied(program, arena), bytes.atom(), copied(program, arena)}, inputs, limits, random, p);
    }
    steps += machine.steps;
    ++ended[static_cast<int>(status)];
    if (machine.held_bytes() > std::size_t{256} << 20) fail(p, "left the machine with too much memory");
  }
  std::printf(
      "%ld programs, %lld steps: %ld normal, %ld step limit, %ld stack limit, %ld memory limit, %ld code limit, "
      "%ld unknown instruction, %ld missing input, %ld outside; %zu MB kept\n",
      programs, steps, ended[0], ended[1], ended[2], ended[3], ended[4], ended[5], ended[6], ended[7],
      machine.held_bytes() >> 20);
  return 0;
}

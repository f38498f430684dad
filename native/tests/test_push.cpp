// What the Push engine may use: no allocation per step once its memory has grown, and bounded memory.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "fuzz_programs.hpp"
#include "push/elementary.hpp"
#include "testing.hpp"

namespace {
std::atomic<long> allocations{0};
}

// Counts every allocation of the test program.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* place = std::malloc(size ? size : 1)) return place;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept try {
  return operator new(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

using namespace flexicase::push;
using namespace flexicase::push::fuzz;

namespace {

struct Run {
  Item program;
  std::vector<Item> inputs;
};

Status run(Machine& m, const Run& what, const Limits& limits) {
  m.reset(limits);
  m.inputs = what.inputs;
  m.has_output = true;
  m.stacks[kExec].push(what.program);
  return m.run();
}

// Programs of every instruction, run on values of every kind.
std::vector<Run> random_runs(Arena& arena, int count) {
  Random random(7);
  std::vector<Run> runs;
  for (int i = 0; i < count; ++i) {
    const std::vector<std::uint8_t> drawn = random_bytes(random, 1500);
    ByteReader bytes(drawn, arena);
    Run made;
    made.inputs = {bytes.vector_of(), bytes.text(), bytes.vector_of(), bytes.atom()};
    made.program = i % 4 ? bytes.program() : growing_program(random, arena, bytes);
    runs.push_back(made);
  }
  return runs;
}

}  // namespace

// A bound of the error that is too small would show as a result that more bits contradict.
TEST(quick_functions_agree_with_accurate_ones) {
  namespace quick = flexicase::elementary;
  namespace accurate = flexicase::elementary::accurate;
  flexicase::Stream stream{1};
  const auto unit = [&] { return 2.0 * stream.unit() - 1.0; };
  for (int i = 0; i < 20'000; ++i) {
    const double x = i % 4 == 0   ? unit()
                     : i % 4 == 1 ? 100.0 * unit()
                     : i % 4 == 2 ? 1e12 * unit()
                                  : unit() * static_cast<double>(std::uint64_t{1} << stream.bounded(60));
    CHECK_EQUAL(quick::sin(x), accurate::sin(x));
    CHECK_EQUAL(quick::cos(x), accurate::cos(x));
    CHECK_EQUAL(quick::tan(x), accurate::tan(x));
    CHECK_EQUAL(quick::atan(x), accurate::atan(x));
    const double size = std::fabs(x), small = std::fmod(x, 1.0), exponent = 40.0 * unit();
    CHECK_EQUAL(quick::asin(small), accurate::asin(small));
    CHECK_EQUAL(quick::acos(small), accurate::acos(small));
    CHECK_EQUAL(quick::log(size), accurate::log(size));
    CHECK_EQUAL(quick::log10(size), accurate::log10(size));
    CHECK_EQUAL(quick::pow(size, exponent), accurate::pow(size, exponent));
  }
}

TEST(push_runs_do_not_allocate_once_their_memory_has_grown) {
  Arena arena{1 << 16};
  const std::vector<Run> runs = random_runs(arena, 400);
  Machine machine;
  Limits limits;
  limits.steps = 400;
  long steps = 0;
  for (const Run& each : runs) run(machine, each, limits);
  const long before = allocations;
  long thrown = 0;  // an exception ends a run, and is allocated
  for (const Run& each : runs) {
    const Status status = run(machine, each, limits);
    steps += machine.steps;
    thrown += status != Status::normal && status != Status::step_limit;
  }
  CHECK(steps > 20'000);
  CHECK(allocations - before <= thrown);
}

TEST(push_text_sorting_and_case_changes_do_not_allocate) {
  // Each in a loop over one long value: what is left to allocate would be counted hundreds of times.
  static constexpr std::string_view bodies[] = {"string_uppercase string_dup string_lowercase string_capitalize",
                                                "string_dup string_dup string_dup string_replace",
                                                "1 integer_stackdepth string_frominteger integer_fromstring",
                                                "char_allfromstring float_fromchar string_fromfloat float_fromstring",
                                                "integer_stackdepth float_frominteger float_sin print_float",
                                                "string_sort string_dup string_reverse string_dup string_split"};
  Arena arena{1 << 16};
  for (const std::string_view body : bodies) {
    std::vector<Item> items = {symbol("exec_y")}, inner = {symbol("in1"), symbol("in2"), symbol("vector_float_sort")};
    for (std::string_view rest = body; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      inner.push_back(word == "1" ? integer(1) : symbol(word));
    }
    const auto list = [&](const std::vector<Item>& from) {
      Item* place = arena.take<Item>(from.size() + 1);
      std::reverse_copy(from.begin(), from.end(), place + 1);
      return seal_list(place, static_cast<std::uint32_t>(from.size()), INT64_MAX);
    };
    items.push_back(list(inner));
    auto* text = arena.take<char16_t>(60);
    for (int i = 0; i < 60; ++i) text[i] = static_cast<char16_t>(i % 7 ? u'a' + i % 26 : u'\u00df');
    Item* numbers = arena.take<Item>(200);
    for (int i = 0; i < 200; ++i) numbers[i] = real((i * 37) % 101);
    const Run looped{list(items), {string(text, 60), vector(numbers, 200)}};
    Machine machine;
    Limits limits;
    run(machine, looped, limits);
    const long before = allocations;
    CHECK(run(machine, looped, limits) == Status::step_limit);
    CHECK_EQUAL(allocations - before, 0);
  }
}

TEST(push_memory_is_bounded_by_the_limits_and_kept_from_run_to_run) {
  Arena arena{1 << 16};
  const std::vector<Run> runs = random_runs(arena, 200);
  Machine machine;
  Limits limits;
  limits.steps = 2000;
  limits.stack = 2000;
  limits.memory = 2 << 20;
  limits.code = 10'000;
  std::size_t first = 0;
  for (int round = 0; round < 3; ++round) {
    for (const Run& each : runs) {
      run(machine, each, limits);
      CHECK(machine.arena.used() <= static_cast<std::size_t>(limits.memory));
    }
    if (round == 0) first = machine.held_bytes();
  }
  CHECK_EQUAL(machine.held_bytes(), first);
  const std::size_t stacks = kStacks * 2 * static_cast<std::size_t>(limits.stack) * sizeof(Item);
  const std::size_t walks = 8 * static_cast<std::size_t>(limits.code) * sizeof(Item);
  CHECK(first <= stacks + static_cast<std::size_t>(limits.memory) + walks + (std::size_t{1} << 20));
}

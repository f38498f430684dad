// Digests of what the library draws and computes, which must be the same with every compiler, instruction set and
// processor: flexicase_golden prints them, flexicase_golden FILE ISA compares them with those in the file and ends with
// code 77 where another instruction set would be used.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

#include "flexicase/baselines.hpp"
#include "flexicase/fast_run.hpp"
#include "flexicase/kernel.hpp"
#include "flexicase/normals.hpp"
#include "flexicase/probabilities.hpp"
#include "fuzz_populations.hpp"
#include "fuzz_programs.hpp"
#include "push/elementary.hpp"
#include "push/population.hpp"
#include "push/text.hpp"

using namespace flexicase;

namespace {

constexpr Key kKey{0x0123456789ABCDEFu, 0xFEDCBA9876543210u};
constexpr std::int64_t kEvents = 40;

class Digest {
 public:
  void add(std::uint64_t word) { state_ = mix64(state_ ^ word) + golden; }
  void add(double value) { add(std::isnan(value) ? 1 : std::bit_cast<std::uint64_t>(value)); }  // any NaN is the same
  template <class T>
  void add(const std::vector<T>& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) {
      if constexpr (std::is_floating_point_v<T>) {
        add(static_cast<double>(value));
      } else {
        add(static_cast<std::uint64_t>(value));
      }
    }
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

std::string lines;
void record(const std::string& name, const Digest& digest) {
  char text[24];
  std::snprintf(text, sizeof text, " %016llx\n", static_cast<unsigned long long>(digest.value()));
  lines += name + text;
}

// --- selection ---

template <class T>
constexpr DType dtype_of() {
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? DType::f32 : DType::f64;
  constexpr DType of_size[] = {DType::u8,  DType::i8,  DType::u16, DType::i16,
                               DType::u32, DType::i32, DType::u64, DType::i64};
  return of_size[2 * (std::bit_width(sizeof(T)) - 1) + std::is_signed_v<T>];
}

template <class T>
std::vector<T> errors_of(std::int64_t rows, std::int64_t cols, std::uint64_t levels) {
  Stream stream{mix64(static_cast<std::uint64_t>(rows * 1000 + cols))};
  std::vector<T> errors(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool repeat = i >= static_cast<std::size_t>(cols) && stream.bounded(3) == 0;
    errors[i] = repeat ? errors[i - static_cast<std::size_t>(cols)] : static_cast<T>(stream.bounded(levels));
    if (std::is_floating_point_v<T>) errors[i] /= static_cast<T>(4);
  }
  return errors;
}

std::vector<double> weights_of(std::int64_t cols) {
  std::vector<double> weights(static_cast<std::size_t>(cols));
  for (std::size_t c = 0; c < weights.size(); ++c) weights[c] = static_cast<double>((c * 7 + 5) % 6) / 5.0;
  weights[0] = 1.0;
  return weights;
}

// Every order with every filter.
std::vector<KernelOptions> all_options(std::int64_t cols) {
  std::vector<KernelOptions> filters(8);
  for (KernelOptions& options : filters) options.depth = cols;
  filters[1].tolerance = Tolerance::fixed;
  filters[1].epsilon.assign(static_cast<std::size_t>(cols), 1.0);
  filters[2].tolerance = Tolerance::mad;
  filters[3].tolerance = Tolerance::dynamic_mad;
  filters[4].batch = 3;
  filters[5].depth = 2;
  filters[6].random_depth = true;
  filters[7].slippage = 0.25;
  std::vector<KernelOptions> all;
  for (KernelOptions options : filters) {
    all.push_back(options);
    options.weights = weights_of(cols);
    all.push_back(options);
    options.ranked = true;
    all.push_back(options);
  }
  return all;
}

template <class T>
void record_draws(const char* name, std::uint64_t levels) {
  constexpr std::int64_t shapes[][2] = {{1, 1}, {7, 5}, {65, 33}, {130, 200}, {400, 20}};
  Digest digest;
  for (const auto& [rows, cols] : shapes) {
    const std::vector<T> errors = errors_of<T>(rows, cols, levels);
    const auto matrix = std::make_shared<Matrix>(MatrixView{errors.data(), dtype_of<T>(), rows, cols, cols, 1});
    for (const KernelOptions& options : all_options(cols)) {
      std::vector<std::int64_t> counts[4];
      for (auto& c : counts) c.assign(kEvents, -1);
      std::vector<std::uint8_t> ended(kEvents, 9);
      Kernel kernel(matrix, options);
      kernel.draw({kKey, 3, 2, counts[0].data(), counts[1].data(), counts[2].data(), counts[3].data(), ended.data()},
                  kEvents, 1);
      for (const auto& c : counts) digest.add(c);
      digest.add(ended);
    }
  }
  record(std::string("draws/") + name, digest);
}

void record_fast_runs() {
  constexpr std::int64_t rows = 60, cols = 40;
  const std::vector<double> errors = errors_of<double>(rows, cols, 5);
  Digest digest;
  for (const OrderKind order : {OrderKind::uniform, OrderKind::weighted, OrderKind::ranked}) {
    for (const PoolBias bias : {PoolBias::num_nonzeros, PoolBias::num_zeros, PoolBias::split}) {
      for (const bool mad : {false, true}) {
        const FastPlan plan{order, {bias, 1.0, 1.0, nullptr, mad}, cols, mad ? 0 : 4, 1, 1000};
        ErrorCache store(rows, cols, 1 << 20);
        std::vector<double> weights(cols, static_cast<double>(rows));
        std::vector<std::int64_t> counts(6 * kEvents);
        std::vector<std::uint8_t> ended(kEvents);
        FastRun run(plan);
        run.start(
            {&store, weights.data(), 0, static_cast<double>(rows), kKey, 0, kEvents, counts.data(), ended.data()});
        for (auto status = run.advance(64); status != FastRun::Status::done; status = run.advance(64)) {
          if (status != FastRun::Status::needs_errors) continue;
          std::vector<double> block;
          for (const auto i : run.individuals()) {
            for (const auto c : run.cases()) block.push_back(errors[static_cast<std::size_t>(i * cols + c)]);
          }
          run.provide_errors(block.data());
        }
        run.finish(true);
        counts.resize(5 * kEvents);  // without the candidates left
        digest.add(weights);
        digest.add(counts);
        digest.add(ended);
      }
    }
  }
  record("fast-lexicase", digest);
}

void record_baselines() {
  constexpr std::int64_t rows = 50, cols = 30;
  std::vector<double> errors = errors_of<double>(rows, cols, 1000);
  std::vector<std::int64_t> chosen(kEvents);
  const Request request{kKey, 0, 1, chosen.data()};
  Digest digest;
  draw_tournaments({errors.data(), cols, rows, 5}, request, kEvents, 1);
  digest.add(chosen);
  std::vector<double> wheel(rows);
  for (std::size_t i = 0; i < wheel.size(); ++i) wheel[i] = (i ? wheel[i - 1] : 0.0) + errors[i] + 0.1;
  draw_wheel(wheel.data(), rows, request, kEvents, 1);
  digest.add(chosen);
  std::vector<std::int64_t> unique_rows(rows);
  for (std::size_t i = 0; i < unique_rows.size(); ++i) unique_rows[i] = static_cast<std::int64_t>(i);
  std::vector<double> shares(rows);
  elite_shares({errors.data(), DType::f64, rows, cols, cols, 1}, unique_rows.data(), rows, shares.data());
  digest.add(shares);
  std::vector<std::uint8_t> solved(errors.size());
  for (std::size_t i = 0; i < solved.size(); ++i) solved[i] = errors[i] < 60.0;
  std::vector<std::int64_t> sample(12);
  farthest_first(solved.data(), rows, cols, Stream{7}, 12, sample.data());
  digest.add(sample);
  record("baselines", digest);

  Digest dalex;
  for (const double std : {0.5, 3.0, 200.0}) {
    draw_aggregates({errors.data(), cols, rows, std}, request, kEvents, 1);
    dalex.add(chosen);
  }
  record("dalex", dalex);

  Digest normals;
  for (std::int64_t j = 0; j < 2000; j += 2) {
    const auto [a, b] = normal_pair(unit_above_zero(5, j), unit_above_zero(5, j + 1));
    for (const double x : {a, b, decay(-std::fabs(300.0 * a))}) normals.add(x);
  }
  record("normals", normals);
}

void record_probabilities() {
  const std::vector<std::int32_t> errors = errors_of<std::int32_t>(20, 12, 3);
  Matrix matrix({errors.data(), DType::i32, 20, 12, 12, 1});
  Digest digest;
  for (int order = 0; order < 3; ++order) {
    KernelOptions options;
    options.depth = 12;
    if (order) options.weights = weights_of(12);
    options.ranked = order == 2;
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{30}}) {
      const ExactOutcome out = exact_probabilities(matrix, options, most);
      digest.add(out.probabilities);
      digest.add(out.states);
      digest.add(out.estimate);
    }
  }
  record("probabilities", digest);
}

// --- Push ---

using namespace flexicase::push;
using namespace flexicase::push::fuzz;

void add_text(Digest& digest, Machine& machine, const Item& item) {
  std::vector<char16_t> text;
  write_readable(machine, item, text, 2000);
  text.resize(std::min<std::size_t>(text.size(), 2000));
  digest.add(text);
}

void record_programs() {
  Random random(11);
  Machine machine;
  for (int part = 0; part < 10; ++part) {
    Digest digest;
    for (int p = 0; p < 1000; ++p) {
      Arena arena{1 << 14};
      const std::vector<std::uint8_t> drawn = random_bytes(random, below(random, 300));
      ByteReader bytes(drawn, arena);
      const Limits limits = random_limits(random);
      machine.reset(limits);
      machine.inputs = {bytes.vector_of(), bytes.text(), bytes.vector_of()};
      machine.has_output = true;
      const std::int64_t way = below(random, 8);
      const Item program = way < 3   ? genome_program(random, arena, bytes, limits.points)
                           : way < 6 ? bytes.program()
                                     : growing_program(random, arena, bytes);
      add_text(digest, machine, program);
      machine.stacks[kExec].push(program);
      digest.add(static_cast<std::uint64_t>(machine.run()));
      digest.add(static_cast<std::uint64_t>(machine.steps));
      digest.add(machine.output);
      for (Stack& stack : machine.stacks) {
        digest.add(static_cast<std::uint64_t>(stack.size));
        for (std::int64_t i = 0; i < std::min<std::int64_t>(stack.size, 20); ++i) {
          add_text(digest, machine, stack.top(i));
        }
      }
    }
    record("programs/" + std::to_string(part), digest);
  }
}

// Every instruction of the float stack on every pair of numbers of a grid.
void record_floats() {
  std::vector<double> grid = {0.0, -0.0, NAN, INFINITY, -INFINITY, 5e-324, 1e300, -1e300, 1e12, 1e-10, 0x1p53, 0x1p63};
  Stream stream{1};
  for (int i = 0; i < 40; ++i) grid.push_back((stream.unit() - 0.5) * std::ldexp(1.0, i - 5));
  for (int i = -9; i < 9; ++i) grid.push_back(i * 0.125);
  Machine machine;
  for (std::size_t number = 0; number < instructions().size(); ++number) {
    const std::string name = instructions()[number].name;
    if (!name.starts_with("float_") && name != "string_fromfloat" && name != "print_float" &&
        name != "integer_fromfloat" && name != "char_fromfloat")
      continue;
    Digest digest;
    for (const double x : grid) {
      for (const double y : grid) {
        machine.reset({});
        machine.has_output = true;
        for (const double value : {x, y}) machine.stacks[kFloat].push(real(value));
        machine.stacks[kInteger].push(integer(1));
        machine.step(make(Kind::instruction, static_cast<std::int64_t>(number)));
        for (Stack& stack : machine.stacks) {
          for (std::int64_t i = 0; i < std::min<std::int64_t>(stack.size, 4); ++i) {
            const Item& item = stack.top(i);
            if (item.kind == Kind::real) digest.add(item.real);
            add_text(digest, machine, item);
          }
        }
        digest.add(machine.output);
      }
    }
    record(name, digest);
  }
}

void record_functions() {
  namespace f = flexicase::elementary;
  Stream stream{2};
  Digest digest;
  for (int i = 0; i < 20'000; ++i) {
    const double x = 2.0 * stream.unit() - 1.0, large = std::ldexp(x, static_cast<int>(stream.bounded(120)) - 40);
    for (const double value :
         {f::sin(large), f::cos(large), f::tan(large), f::asin(x), f::acos(x), f::atan(large), f::log(std::fabs(large)),
          f::log10(std::fabs(large)), f::pow(std::fabs(large), 30.0 * x)})
      digest.add(value);
  }
  record("functions", digest);
}

void record_variation() {
  constexpr TooBig kReplacements[] = {TooBig::random, TooBig::parent, TooBig::empty, TooBig::truncate};
  Variation variation = every_operator();
  auto population = random_population(*variation.source, kSize, variation.max_initial_genome, {1, 2}, 1);
  Stream stream{3};
  Machine machine;
  Digest genomes, programs;
  for (std::uint64_t g = 0; g < 60; ++g) {
    variation.too_big = kReplacements[g % 4];
    population = next(variation, *population, {g, 7}, 1);
    for (const char c : to_bytes(*population)) genomes.add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    const auto translated = translate(*population, 1200, 1);
    for (const Item& program : translated->items) {
      Arena arena{1024};
      add_text(programs, machine, program);
      add_text(programs, machine, smaller(program, stream, arena));
    }
  }
  record("variation", genomes);
  record("translation", programs);
}

int compare(const char* path) {
  std::ifstream file(path);
  std::stringstream recorded, found(lines);
  recorded << file.rdbuf();
  int different = 0;
  for (std::string a, b; true; ++different) {
    while (std::getline(found, a) && std::getline(recorded, b) && a == b) {
    }
    if (!found && !std::getline(recorded, b)) break;
    std::printf("found    %s\nrecorded %s\n", a.c_str(), b.c_str());
    if (!found || !recorded) return 1;
  }
  return different ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  if (argc > 2 && std::string(argv[2]) != isa().name) return skipped;
  record_draws<std::uint8_t>("u8", 2);
  record_draws<std::int8_t>("i8", 5);
  record_draws<std::uint16_t>("u16", 60000);
  record_draws<std::int16_t>("i16", 4);
  record_draws<std::uint32_t>("u32", 3);
  record_draws<std::int32_t>("i32", 100000);
  record_draws<std::uint64_t>("u64", 3);
  record_draws<std::int64_t>("i64", 1000);
  record_draws<float>("f32", 6);
  record_draws<double>("f64", std::uint64_t{1} << 50);
  record_fast_runs();
  record_baselines();
  record_probabilities();
  record_programs();
  record_floats();
  record_functions();
  record_variation();
  if (argc > 1) return compare(argv[1]);
  std::fputs(lines.c_str(), stdout);
  return 0;
}

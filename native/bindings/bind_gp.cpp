#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

#include "arrays.hpp"
#include "gil.hpp"
#include "push/population.hpp"
#include "push/variation.hpp"
#include "push_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace flexicase::push;
using flexicase::Key;
using flexicase::Lane;
using flexicase::Stream;

namespace {

using Numbers = flexicase::Out<std::int64_t>;
using Indices = flexicase::In<std::int64_t>;

// The position of a name in a list of names.
template <class Names>
std::size_t position(const Names& names, const std::string& name, const char* what) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) throw nb::value_error((std::string("no ") + what + " is named " + name).c_str());
  return static_cast<std::size_t>(found - std::begin(names));
}

Item gene_item(nb::handle value, Arena& arena) {
  const Item item = push_values::from_python(value, arena, {"a gene"});
  if (is_list(item)) throw nb::type_error("a gene must be a literal or a symbol, not code in parentheses");
  return item;
}

std::u16string characters(nb::handle value) {
  Arena arena{1024};
  const Item text = push_values::from_python(value, arena, {"characters"});
  if (text.kind != Kind::string || !text.length) throw nb::value_error("characters must be text that is not empty");
  return {text.text, text.length};
}

void add_groups(Generator& made, nb::handle groups) {
  for (nb::handle group : nb::cast<nb::tuple>(groups)) {
    made.weights.push_back(nb::cast<double>(group[0]) + (made.weights.empty() ? 0 : made.weights.back()));
    made.groups.push_back(characters(group[1]));
  }
}

// An entry of a generator list: the name of its draw, and what the draw needs.
Generator generator(nb::tuple entry, Arena& arena) {
  constexpr const char* draws[] = {"fixed",  "integer", "real",   "boolean", "character",
                                   "string", "tag",     "tagged", "words",   "vector"};
  Generator made;
  made.draw = static_cast<Draw>(position(draws, nb::cast<std::string>(entry[0]), "draw"));
  switch (made.draw) {
    case Draw::fixed: made.item = gene_item(entry[1], arena); break;
    case Draw::real:
      made.real_low = nb::cast<double>(entry[1]);
      made.real_high = nb::cast<double>(entry[2]);
      break;
    case Draw::integer:
      made.low = nb::cast<std::int64_t>(entry[1]);
      made.high = nb::cast<std::int64_t>(entry[2]);
      break;
    case Draw::character: made.groups.push_back(characters(entry[1])); break;
    case Draw::string:
      made.low = nb::cast<std::int64_t>(entry[1]);
      made.high = nb::cast<std::int64_t>(entry[2]);
      add_groups(made, entry[3]);
      made.words = nb::cast<bool>(entry[4]);
      break;
    case Draw::tag:
      for (nb::handle stack : nb::cast<nb::tuple>(entry[1])) {
        made.stacks.push_back(static_cast<std::uint16_t>(position(kStackNames, nb::cast<std::string>(stack), "stack")));
      }
      made.high = nb::cast<std::int64_t>(entry[2]) - 1;
      break;
    case Draw::tagged: made.high = nb::cast<std::int64_t>(entry[1]) - 1; break;
    case Draw::words:
      made.low = nb::cast<std::int64_t>(entry[1]);
      made.high = nb::cast<std::int64_t>(entry[2]);
      made.letters = characters(entry[3]);
      add_groups(made, entry[4]);
      for (nb::handle share : nb::cast<nb::tuple>(entry[5])) {
        made.shares.push_back(nb::cast<double>(share[0]) + (made.shares.empty() ? 0 : made.shares.back()));
        Generator& lengths = made.parts.emplace_back();
        lengths.low = nb::cast<std::int64_t>(share[1]);
        lengths.high = nb::cast<std::int64_t>(share[2]);
      }
      break;
    case Draw::vector:
      made.low = nb::cast<std::int64_t>(entry[1]);
      made.high = nb::cast<std::int64_t>(entry[2]);
      made.parts.push_back(generator(nb::cast<nb::tuple>(entry[3]), arena));
      break;
    default: break;
  }
  return made;
}

std::shared_ptr<GeneSource> gene_source(nb::list entries, const std::vector<double>& close, bool close_marker,
                                        double silent_probability) {
  if (close.size() != 4) throw nb::value_error("close must have four probabilities");
  auto source = std::make_shared<GeneSource>();
  for (nb::handle entry : entries) {
    source->generators.push_back(generator(nb::cast<nb::tuple>(entry), source->arena));
  }
  if (source->generators.empty()) throw nb::value_error("genes must not be empty");
  std::partial_sum(close.begin(), close.end(), source->close_below.begin());
  source->close_marker = close_marker;
  source->silent_probability = silent_probability;
  return source;
}

std::shared_ptr<Variation> variation(std::shared_ptr<GeneSource> source,
                                     const std::vector<std::vector<std::string>>& pipelines,
                                     const std::vector<double>& probabilities, nb::dict rates, std::int64_t max_points,
                                     std::int64_t max_initial_genome, const std::string& too_big, bool silent_marker) {
  constexpr const char* replacements[] = {"random", "parent", "empty", "truncate"};
  if (pipelines.empty() || pipelines.size() != probabilities.size()) {
    throw nb::value_error("one probability for each pipeline, and at least one pipeline");
  }
  auto made = std::make_shared<Variation>();
  made->source = std::move(source);
  for (const auto& names : pipelines) {
    Pipeline& pipeline = made->pipelines.emplace_back();
    for (const std::string& name : names) {
      pipeline.push_back(static_cast<Operator>(position(kOperatorNames, name, "operator")));
    }
  }
  made->below.resize(probabilities.size());
  std::partial_sum(probabilities.begin(), probabilities.end(), made->below.begin());
  for (auto [name, values] : rates) {
    made->rates[position(kRateNames, nb::cast<std::string>(name), "rate")] = nb::cast<std::vector<double>>(values);
  }
  for (std::size_t i = 0; i < std::size(kRateNames); ++i) {
    if (made->rates[i].empty()) throw nb::value_error((std::string(kRateNames[i]) + " is missing").c_str());
  }
  made->max_points = max_points;
  made->max_initial_genome = max_initial_genome;
  made->too_big = static_cast<TooBig>(position(replacements, too_big, "replacement"));
  made->silent_marker = silent_marker;
  return made;
}

std::shared_ptr<Population> population(nb::list genomes) {
  auto made = std::make_shared<Population>();
  Arena& arena = made->add_arena();
  for (nb::handle genome : genomes) {
    auto& genes = made->genomes.emplace_back();
    for (nb::handle gene : nb::cast<nb::sequence>(genome)) {
      const int silent = nb::cast<int>(gene[2]);
      if (silent < 0 || silent > 2) throw nb::value_error("silent must be 0, 1 or 2");
      genes.push_back({gene_item(gene[0], arena), nb::cast<std::int32_t>(gene[1]), static_cast<Silence>(silent)});
    }
  }
  return made;
}

nb::list genes_of(const Population& all, std::size_t index) {
  if (index >= all.genomes.size()) throw nb::index_error("no such genome");
  nb::list genes;
  for (const Gene& gene : all.genomes[index]) {
    genes.append(nb::make_tuple(push_values::ToPython()(gene.item), gene.close, static_cast<int>(gene.silence)));
  }
  return genes;
}

void check_size(const Numbers& out, std::size_t size) {
  if (out.size() != size) throw nb::value_error("an array has the wrong length");
}

void sizes_of(const Population& all, Numbers out) {
  check_size(out, all.genomes.size());
  for (std::size_t i = 0; i < all.genomes.size(); ++i) out.data()[i] = static_cast<std::int64_t>(all.genomes[i].size());
}

// Code of a whole population keeps the population and the memory of all its programs alive.
struct PopulationCode : Code {
  std::shared_ptr<const Population> population;
  std::shared_ptr<const Programs> programs;
};

// Whether there is memory for that many objects: nanobind ends the process where it cannot register one.
void check_room(std::size_t objects) {
  constexpr std::size_t kObject = 512;
  void* volatile room = std::malloc(objects * kObject);
  std::free(room);
  if (objects && !room) throw std::bad_alloc();
}

nb::list translate_population(std::shared_ptr<Population> all, std::int64_t max_points, int threads, Numbers sizes) {
  check_size(sizes, all->genomes.size());
  std::shared_ptr<Programs> programs;
  {
    const flexicase::WithoutGil others_run;
    programs = translate(*all, max_points, threads);
  }
  check_room(programs->items.size());
  nb::list codes;
  for (std::size_t i = 0; i < programs->items.size(); ++i) {
    auto code = std::make_shared<PopulationCode>();
    code->item = programs->items[i];
    code->population = all;
    code->programs = programs;
    sizes.data()[i] = points(code->item);
    codes.append(nb::cast(std::shared_ptr<Code>(std::move(code))));
  }
  return codes;
}

std::int64_t largest(const Population& all) {
  std::size_t most = 0;
  for (const auto& genome : all.genomes) most = std::max(most, genome.size());
  return static_cast<std::int64_t>(most);
}

void plan(const Variation& how, const Population& parents, std::uint64_t k0, std::uint64_t k1, Numbers pipelines,
          Numbers first) {
  check_size(first, pipelines.size() + 1);
  draw_pipelines(how, {k0, k1}, static_cast<std::int64_t>(pipelines.size()), pipelines.data());
  const std::int64_t most = largest(parents);
  std::vector<std::int64_t> needed;
  for (const Pipeline& pipeline : how.pipelines) needed.push_back(parents_needed(pipeline, most));
  first.data()[0] = 0;
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    first.data()[i + 1] = first.data()[i] + needed[static_cast<std::size_t>(pipelines.data()[i])];
  }
}

void check_brood(const Variation& how, const Population& all, const Indices& pipelines, const Indices& first,
                 const Indices& parents) {
  if (first.size() != pipelines.size() + 1) throw nb::value_error("first must be one longer than pipelines");
  const std::int64_t most = largest(all);
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    const auto pipeline = static_cast<std::uint64_t>(pipelines.data()[i]);
    if (pipeline >= how.pipelines.size()) throw nb::index_error("pipelines: no such pipeline");
    if (first.data()[i + 1] - first.data()[i] != parents_needed(how.pipelines[pipeline], most)) {
      throw nb::value_error("first must leave each child the parents that its pipeline needs");
    }
  }
  if (first.data()[0] != 0 || first.data()[pipelines.size()] != static_cast<std::int64_t>(parents.size())) {
    throw nb::value_error("parents must be as many as first says");
  }
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (static_cast<std::uint64_t>(parents.data()[i]) >= all.genomes.size()) {
      throw nb::index_error("parents: no such individual");
    }
  }
}

std::shared_ptr<Population> bred(const Variation& how, const Population& all, Indices pipelines, Indices first,
                                 Indices parents, std::uint64_t k0, std::uint64_t k1, int threads, Numbers used) {
  check_brood(how, all, pipelines, first, parents);
  check_size(used, pipelines.size());
  const Brood brood{pipelines.data(), first.data(), parents.data(), static_cast<std::int64_t>(pipelines.size())};
  const flexicase::WithoutGil others_run;
  return breed(how, all, brood, {k0, k1}, threads, used.data());
}

std::shared_ptr<Population> random_genomes(const Variation& how, std::int64_t size, std::uint64_t k0, std::uint64_t k1,
                                           int threads) {
  const flexicase::WithoutGil others_run;
  return random_population(*how.source, size, how.max_initial_genome, {k0, k1}, threads);
}

std::shared_ptr<Code> smaller_program(const Code& program, std::uint64_t k0, std::uint64_t k1, std::uint64_t step) {
  auto made = std::make_shared<Code>();
  Stream stream{lane_state(event_state(Key{k0, k1}, step), Lane::simplification)};
  made->item = smaller(program.item, stream, made->arena);
  return made;
}

nb::list names(const char* const* first, std::size_t count) {
  nb::list all;
  for (std::size_t i = 0; i < count; ++i) all.append(nb::str(first[i]));
  return all;
}

}  // namespace

void bind_gp(nb::module_& m) {
  nb::class_<GeneSource>(m, "GpGeneSource");
  nb::class_<Variation>(m, "GpVariation");
  nb::class_<Population>(m, "GpPopulation")
      .def("__len__", [](const Population& self) { return self.genomes.size(); })
      .def("genes", &genes_of, "index"_a)
      .def("sizes", &sizes_of, "out"_a.noconvert())
      .def("to_bytes", [](const Population& self) {
        const std::string bytes = to_bytes(self);
        return nb::bytes(bytes.data(), bytes.size());
      });
  m.def("gp_gene_source", &gene_source, "entries"_a, "close"_a, "close_marker"_a, "silent_probability"_a);
  m.def("gp_variation", &variation, "source"_a, "pipelines"_a, "probabilities"_a, "rates"_a, "max_points"_a,
        "max_initial_genome"_a, "too_big"_a, "silent_marker"_a);
  m.def("gp_population", &population, "genomes"_a);
  m.def("gp_population_from_bytes",
        [](nb::bytes bytes) { return population_from_bytes({bytes.c_str(), bytes.size()}); });
  m.def("gp_random_population", &random_genomes, "variation"_a, "size"_a, "k0"_a, "k1"_a, "threads"_a);
  m.def("gp_translate", &translate_population, "population"_a, "max_points"_a, "threads"_a, "sizes"_a.noconvert());
  m.def("gp_plan", &plan, "variation"_a, "parents"_a, "k0"_a, "k1"_a, "pipelines"_a.noconvert(), "first"_a.noconvert());
  m.def("gp_breed", &bred, "variation"_a, "population"_a, "pipelines"_a, "first"_a, "parents"_a, "k0"_a, "k1"_a,
        "threads"_a, "used"_a.noconvert());
  m.def("gp_smaller", &smaller_program, "program"_a, "k0"_a, "k1"_a, "step"_a);
  m.def("gp_operators", [] { return names(kOperatorNames, std::size(kOperatorNames)); });
  m.def("gp_rates", [] { return names(kRateNames, std::size(kRateNames)); });
}

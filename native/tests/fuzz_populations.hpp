// Populations that meet every genetic operator: genes of every kind, and pipelines of one and two operators.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "push/batch.hpp"
#include "push/population.hpp"
#include "push/table.hpp"
#include "push/variation.hpp"

namespace flexicase::push::fuzz {

inline constexpr std::int64_t kSize = 60;
inline constexpr auto kOperators = static_cast<std::size_t>(Operator::count);

inline std::shared_ptr<GeneSource> gene_source() {
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
  Generator element;
  element.draw = Draw::integer;
  element.low = 1;
  element.high = 3;
  for (const Draw draw : {Draw::words, Draw::vector}) {
    Generator& made = add(draw);
    made.letters = u"xyz";
    made.parts = {element};
    made.shares = {1};
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

inline Variation every_operator() {
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

inline std::shared_ptr<Population> next(const Variation& variation, const Population& parents, Key key, int threads) {
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

// Errors of programs on a few integers, and the steps made.
inline std::pair<std::vector<double>, std::int64_t> evaluated(const Programs& programs, int threads) {
  Cases cases;
  for (std::int64_t i = 0; i < 4; ++i) {
    cases.inputs.push_back({integer(i)});
    cases.targets.push_back(integer(2 * i));
  }
  std::vector<std::int64_t> rows, columns;
  for (std::size_t row = 0; row < programs.items.size(); ++row) {
    for (std::int64_t column = 0; column < 4; ++column) {
      rows.push_back(static_cast<std::int64_t>(row));
      columns.push_back(column);
    }
  }
  Question question;
  question.stack = kInteger;
  question.measure = Measure::absolute;
  std::vector<double> errors(rows.size());
  Failures failures;
  const Pairs pairs{rows.data(), columns.data(), static_cast<std::int64_t>(rows.size())};
  const std::int64_t steps = evaluate(programs.items, cases, pairs, {}, {question}, threads, errors.data(), failures);
  return {errors, steps};
}

}  // namespace flexicase::push::fuzz

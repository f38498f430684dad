// Fits a polynomial by evolution. The selector has Prepare(population) and operator()(rng), as those of Operon have.
#include <flexicase/selector.hpp>

#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <span>
#include <vector>

struct Individual {
  std::vector<double> coefficients;
  std::vector<float> errors;  // one per case
};

class LexicaseSelector {
 public:
  void Prepare(std::span<const Individual> population) {
    selector_.reset();
    errors_.clear();
    for (const Individual& one : population) errors_.insert(errors_.end(), one.errors.begin(), one.errors.end());
    const auto view = flexicase::matrix_view(errors_.data(), std::ssize(population), std::ssize(population[0].errors));
    selector_.emplace(view, flexicase::KernelOptions{.tolerance = flexicase::Tolerance::mad});
  }

  std::size_t operator()(auto& rng) const {  // threads may call it at once, each with its own generator
    return static_cast<std::size_t>((*selector_)(rng));
  }

 private:
  std::vector<float> errors_;  // individuals × cases, must outlive the selector
  std::optional<flexicase::Selector> selector_;
};

void evaluate(Individual& one) {
  one.errors.clear();
  for (double x = -1.0; x <= 1.0; x += 0.02) {
    double value = 0.0;
    for (const double c : one.coefficients) value = value * x + c;
    one.errors.push_back(static_cast<float>(std::abs(value - (x * x * x - x / 2 + 0.25))));
  }
}

int main() {
  std::mt19937_64 rng(7);
  std::normal_distribution<double> noise;
  std::vector<Individual> population(200, {{0, 0, 0, 0}, {}});
  LexicaseSelector select;
  for (int generation = 0; generation < 60; ++generation) {
    for (Individual& one : population) evaluate(one);
    select.Prepare(population);
    std::vector<Individual> children;
    for (std::size_t i = 0; i < population.size(); ++i) {
      children.push_back(population[select(rng)]);
      for (double& c : children.back().coefficients) c += 0.3 * std::exp(-0.1 * generation) * noise(rng);
    }
    population = std::move(children);
  }
  for (const double c : population[0].coefficients) std::printf("%.2f ", c);  // about 1 0 -0.5 0.25
}

#include "flexicase/selector.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace flexicase {

namespace {

constexpr double min_relative_weight = 1e-305;  // as in flexicase/selection/lexicase.py

void require(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

void check_per_case(const std::vector<double>& numbers, std::int64_t cases, const char* message) {
  const bool usable = std::all_of(numbers.begin(), numbers.end(), [](double x) { return x >= 0.0; });
  require(usable && numbers.size() == static_cast<std::size_t>(cases), message);
}

// Scaled to a maximum of 1, keeping positive weights positive; empty (uniform) if all are 0.
void normalize(std::vector<double>& weights) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (largest == 0.0) return weights.clear();
  for (double& w : weights) w = w > 0.0 ? std::max(w / largest, min_relative_weight) : 0.0;
}

std::shared_ptr<Matrix> checked(const MatrixView& errors) {
  require(errors.rows > 0 && errors.rows < INT32_MAX, "errors must have from 1 to 2^31 - 2 individuals");
  require(errors.cols >= 0 && errors.cols < INT32_MAX, "errors must have from 0 to 2^31 - 2 cases");
  require(errors.data != nullptr || errors.cols == 0, "errors must not be a null pointer");
  auto matrix = std::make_shared<Matrix>(errors);
  if (const auto bad = matrix->bad_entry()) {
    throw std::invalid_argument("errors must not be NaN, got NaN in row " + std::to_string(bad->first) + ", column " +
                                std::to_string(bad->second));
  }
  return matrix;
}

KernelOptions checked(KernelOptions options, const Matrix& matrix) {
  const std::int64_t cases = matrix.original().cols;
  require(options.batch >= 1, "batch must be at least 1");
  require(options.depth >= 1, "depth must be at least 1");
  require(options.slippage >= 0.0 && options.slippage <= 1.0, "slippage must be from 0 to 1");
  require(!options.ranked || cases == 0 || !options.weights.empty(), "a ranked order needs weights");
  require(options.tolerance == Tolerance::none || !matrix.inexact_entry(),
          "errors must be exact as doubles if there is a tolerance");
  if (options.tolerance == Tolerance::fixed) {
    check_per_case(options.epsilon, cases, "epsilon must have one number for each case, none of them negative");
  }
  if (!options.weights.empty()) {
    check_per_case(options.weights, cases, "weights must have one number for each case, none of them negative");
    const bool finite =
        std::all_of(options.weights.begin(), options.weights.end(), [](double w) { return w < HUGE_VAL; });
    require(finite, "weights must be finite");
    if (!options.ranked) normalize(options.weights);
  }
  return options;
}

}  // namespace

Selector::Selector(const MatrixView& errors, KernelOptions options) {
  auto matrix = checked(errors);
  KernelOptions usable = checked(std::move(options), *matrix);
  kernel_ = std::make_unique<Kernel>(std::move(matrix), std::move(usable));
}

std::vector<std::int64_t> Selector::draw(std::int64_t n, Key key, int threads, std::uint64_t first_event) const {
  require(n >= 0, "n must not be negative");
  std::vector<std::int64_t> parents(static_cast<std::size_t>(n));
  Request request{key, first_event};
  request.indices = parents.data();
  if (n > 0) kernel_->draw(request, n, threads);
  return parents;
}

std::vector<std::int64_t> select(const MatrixView& errors, std::int64_t n, Key key, KernelOptions options,
                                 int threads) {
  return Selector(errors, std::move(options)).draw(n, key, threads);
}

}  // namespace flexicase

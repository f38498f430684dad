// The selector of the installed C++ library.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "flexicase/kernel.hpp"
#include "flexicase/matrix.hpp"
#include "flexicase/selector.hpp"
#include "testing.hpp"

namespace {

using namespace flexicase;

TEST(a_selector_draws_what_its_kernel_draws) {
  std::mt19937_64 chance(3);
  std::vector<std::int32_t> errors(50 * 20);
  for (std::int32_t& error : errors) error = static_cast<std::int32_t>(chance() % 4);
  KernelOptions options;
  options.weights.assign(20, 8.0);  // not scaled
  options.weights[3] = 32.0;
  const Selector selector(matrix_view(errors.data(), 50, 20), options);
  const auto all = selector.draw(40, {1, 2});
  CHECK(all == selector.draw(40, {1, 2}, 3));
  const auto rest = selector.draw(30, {1, 2}, 1, 10);
  CHECK(std::equal(rest.begin(), rest.end(), all.begin() + 10));
  for (double& weight : options.weights) weight /= 32.0;
  options.depth = 20;
  Kernel kernel(std::make_shared<Matrix>(matrix_view(errors.data(), 50, 20)), options);
  std::vector<std::int64_t> parents(40);
  Request request{{1, 2}};
  request.indices = parents.data();
  kernel.draw(request, 40, 1);
  CHECK(parents == all);
  std::mt19937 narrow(1), same(1);
  CHECK_EQUAL(selector(narrow), selector(same));
}

TEST(a_selector_refuses_what_it_cannot_use) {
  const std::vector<double> good = {1, 2, 3, 4};
  const std::vector<double> bad = {1, 2, NAN, 4};
  const std::vector<std::uint64_t> inexact = {1, ~std::uint64_t{0}, 3, 4};
  const auto refuses = [](const MatrixView& view, const KernelOptions& options) {
    try {
      const Selector selector(view, options);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  const MatrixView view = matrix_view(good.data(), 2, 2);
  CHECK(!refuses(view, {}));
  CHECK(!refuses(matrix_view(good.data(), 4, 0), {}));
  CHECK(!refuses(view, {.weights = {0.0, 0.0}}));
  CHECK(refuses(matrix_view(bad.data(), 2, 2), {}));
  CHECK(refuses(matrix_view(good.data(), 0, 2), {}));
  CHECK(refuses(matrix_view(good.data(), -1, 2), {}));
  CHECK(refuses(matrix_view<float>(nullptr, 2, 2), {}));
  CHECK(refuses(matrix_view(inexact.data(), 2, 2), {.tolerance = Tolerance::mad}));
  CHECK(refuses(view, {.weights = {1.0}}));
  CHECK(refuses(view, {.weights = {1.0, -1.0}}));
  CHECK(refuses(view, {.weights = {1.0, HUGE_VAL}}));
  CHECK(refuses(view, {.weights = {1.0, NAN}}));
  CHECK(refuses(view, {.ranked = true}));
  CHECK(refuses(view, {.tolerance = Tolerance::fixed}));
  CHECK(refuses(view, {.batch = 0}));
  CHECK(refuses(view, {.depth = 0}));
  CHECK(refuses(view, {.slippage = 1.5}));
}

}  // namespace

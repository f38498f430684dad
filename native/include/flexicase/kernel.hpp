// A prepared selection: one matrix, one order, one filter. Draws events, on threads if asked.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "flexicase/matrix.hpp"
#include "flexicase/pages.hpp"
#include "flexicase/select.hpp"

namespace flexicase {

struct KernelOptions {
  std::vector<double> weights;  // empty: uniform order
  bool ranked = false;
  Tolerance tolerance = Tolerance::none;
  std::vector<double> epsilon;  // for Tolerance::fixed
  std::int64_t batch = 1;
  std::int64_t depth = 0;
  bool random_depth = false;
  double slippage = 0.0;
};

class Kernel {
 public:
  Kernel(std::shared_ptr<Matrix> matrix, KernelOptions options);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  Matrix& matrix() { return *matrix_; }
  const KernelOptions& options() const { return options_; }

  // Computes what the draw needs from the matrix; call before draw, one thread at a time.
  void ready(bool counts);

  // Runs events 0 … n-1 of the request. Safe to call from several threads at once.
  void draw(const Request& request, std::int64_t n, int threads);

 private:
  void plan_order();
  void plan_ranks();
  void plan_wheel();
  void plan_list();
  void run(const Request& request, std::int64_t begin, std::int64_t end, Scratch scratch) const;

  std::shared_ptr<Matrix> matrix_;
  KernelOptions options_;
  bool exact_;
  OrderPlan order_;
  ListPlan list_;
  const Planes* planes_ = nullptr;
  std::vector<double> wheel_;
  std::vector<std::int32_t> guide_;
  std::vector<std::uint32_t> reachable_;
  std::vector<std::int32_t> ranks_;
  std::vector<double> mad_;
  std::vector<std::uint8_t> flags_;
  Memory<double> columns_;
  std::mutex scratch_mutex_;
  std::vector<std::byte> scratch_;
};

}  // namespace flexicase

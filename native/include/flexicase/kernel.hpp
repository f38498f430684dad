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
  std::vector<double> weights{};  // empty: uniform order
  bool ranked = false;
  Tolerance tolerance = Tolerance::none;
  std::vector<double> epsilon{};  // for Tolerance::fixed
  std::int64_t batch = 1;
  std::int64_t depth = INT64_MAX;  // cases that an event may read
  bool random_depth = false;
  double slippage = 0.0;
};

// Scratch space for one thread.
class ScratchMemory {
 public:
  Scratch of_size(std::size_t size);

 private:
  Memory<std::byte> memory_;
  std::size_t size_ = 0;
};

class Kernel {
 public:
  Kernel(std::shared_ptr<Matrix> matrix, KernelOptions options);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const Matrix& matrix() const { return *matrix_; }
  const KernelOptions& options() const { return options_; }

  // Runs events 0 … n-1 of the request, with counts if it has room for them. Safe to call from several threads at once.
  void draw(const Request& request, std::int64_t n, int threads);

 private:
  void plan_order();
  void plan_ranks();
  void plan_wheel();
  void plan_epsilon();

  std::shared_ptr<Matrix> matrix_;
  KernelOptions options_;
  bool exact_;
  OrderPlan order_;
  EpsilonPlan epsilon_;
  std::vector<double> wheel_;
  std::vector<std::int32_t> guide_;
  std::vector<std::uint32_t> reachable_;
  std::vector<std::int32_t> ranks_;
  std::vector<double> mad_;
  std::vector<std::uint8_t> flags_;
  Memory<double> columns_;
  std::mutex scratch_mutex_;
  ScratchMemory scratch_;  // kept from draw to draw
};

}  // namespace flexicase

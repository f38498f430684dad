#include "flexicase/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "flexicase/normals.hpp"
#include "flexicase/parallel.hpp"

namespace flexicase {

namespace {

constexpr double expected_in_window = 12.0;
constexpr std::size_t most_column_bytes = std::size_t{1} << 30;

}  // namespace

Kernel::Kernel(std::shared_ptr<Matrix> matrix, KernelOptions options)
    : matrix_(std::move(matrix)),
      options_(std::move(options)),
      exact_(options_.tolerance == Tolerance::none && options_.batch == 1 && !options_.random_depth &&
             options_.depth >= matrix_->original().cols && options_.slippage == 0.0) {
  plan_order();
  plan_epsilon();
}

void Kernel::plan_order() {
  order_.cases = matrix_->original().cols;
  if (options_.weights.empty()) return;
  if (options_.ranked) {
    plan_ranks();
  } else {
    plan_wheel();
  }
}

void Kernel::plan_ranks() {
  const auto n = static_cast<std::size_t>(order_.cases);
  const std::vector<double>& weights = options_.weights;
  ranks_.assign(3 * n, 0);
  std::int32_t* by_rank = ranks_.data();
  std::int32_t* tie_start = by_rank + n;
  std::int32_t* tie_size = tie_start + n;
  std::iota(by_rank, by_rank + n, 0);
  std::stable_sort(by_rank, by_rank + n, [&](std::int32_t a, std::int32_t b) {
    return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
  });
  const auto weight = [&](std::size_t rank) { return weights[static_cast<std::size_t>(by_rank[rank])]; };
  for (std::size_t r = 0; r < n; ++r) {
    const bool tied = r > 0 && weight(r) == weight(r - 1);
    tie_start[r] = tied ? tie_start[r - 1] : static_cast<std::int32_t>(r);
    ++tie_size[tie_start[r]];
  }
  order_.kind = OrderKind::ranked;
  order_.by_rank = by_rank;
  order_.tie_start = tie_start;
  order_.tie_size = tie_size;
}

void Kernel::plan_wheel() {
  const auto n = static_cast<std::size_t>(order_.cases);
  const std::vector<double>& weights = options_.weights;
  wheel_.resize(n);
  std::partial_sum(weights.begin(), weights.end(), wheel_.begin());
  guide_.resize(std::bit_ceil(n));
  std::int32_t c = 0;
  for (std::size_t g = 0; g < guide_.size(); ++g) {
    const double spin = static_cast<double>(g) / static_cast<double>(guide_.size()) * wheel_.back();
    while (wheel_[static_cast<std::size_t>(c)] <= spin) ++c;
    guide_[g] = c;
  }
  const std::size_t stride = (n + 15) / 16 * 16;
  reachable_.assign(window_levels * stride, 0);
  double horizon = expected_in_window / wheel_.back();
  for (int level = 0; level < window_levels; ++level, horizon *= 4) {
    std::uint32_t* reachable = reachable_.data() + static_cast<std::size_t>(level) * stride;
    for (std::size_t c = 0; c < n; ++c) {
      const double key = (1.0 - decay(-horizon * weights[c])) * 0x1p32 + 1.0;
      reachable[c] = weights[c] == 0.0 ? 0 : key >= 0xFFFFFFFFu ? 0xFFFFFFFFu : static_cast<std::uint32_t>(key);
    }
    order_.horizon[level] = horizon;
    order_.reachable[level] = reachable;
  }
  order_.kind = OrderKind::weighted;
  order_.weights = weights.data();
  order_.wheel = wheel_.data();
  order_.guide = guide_.data();
  order_.guides = static_cast<std::int64_t>(guide_.size());
}

void Kernel::plan_epsilon() {
  const MatrixView& m = matrix_->original();
  epsilon_.values = m;
  epsilon_.tolerance = options_.tolerance;
  epsilon_.epsilon = options_.epsilon.data();
  epsilon_.batch = options_.batch;
  epsilon_.depth = options_.depth;
  epsilon_.random_depth = options_.random_depth;
  epsilon_.slippage = options_.slippage;
  if (options_.tolerance != Tolerance::mad) return;
  const auto cols = static_cast<std::size_t>(m.cols);
  mad_.resize(cols);
  flags_.assign(2 * cols + 1, 0);
  epsilon_.mad = mad_.data();
  epsilon_.mad_ready = flags_.data();
  epsilon_.columns_ready = flags_.data() + cols;
  const std::size_t bytes = static_cast<std::size_t>(m.rows) * cols * sizeof(double);
  const bool in_place = m.type == DType::f64 && m.row_stride == 1;
  if (!in_place && bytes <= most_column_bytes) columns_ = allocate<double>(bytes / sizeof(double));
  epsilon_.columns = columns_.get();
  const std::uintptr_t past_line = reinterpret_cast<std::uintptr_t>(m.data) % 64;
  if (m.type == DType::f64 && m.col_stride == 1) epsilon_.tile_offset = static_cast<std::int64_t>(past_line / 8);
}

Scratch ScratchMemory::of_size(std::size_t size) {
  constexpr std::size_t line = 64;
  if (size_ < size + line) {
    size_ = 0;
    memory_.reset();
    memory_ = allocate<std::byte>(size + line);
    size_ = size + line;
  }
  const auto past_line = reinterpret_cast<std::uintptr_t>(memory_.get()) % line;
  return {memory_.get() + (line - past_line) % line, size};
}

void Kernel::draw(const Request& request, std::int64_t n, int threads) {
  const bool counts = request.ended != nullptr;
  const bool exact = exact_ && request.taken == nullptr;
  const BestSets* sets = exact ? &matrix_->best_sets(counts) : nullptr;
  EpsilonPlan plan = epsilon_;
  const std::int64_t rows = matrix_->original().rows;
  if (!exact && counts && matrix_->n_unique_rows() < rows) plan.first_equal = matrix_->unique_rows().data();
  const std::size_t size = exact ? isa().exact_scratch(order_, sets->unique_rows) : isa().epsilon_scratch(order_, rows);
  const std::unique_lock kept(scratch_mutex_, std::try_to_lock);
  in_parallel(n, 1, request.taken == nullptr ? threads : 1, [&](std::int64_t begin, std::int64_t end, Watch& watch) {
    ScratchMemory own;
    const Scratch scratch = (begin == 0 && kept.owns_lock() ? scratch_ : own).of_size(size);
    if (exact) {
      isa().draw_exact(*sets, order_, request, begin, end, scratch, watch);
    } else {
      isa().draw_epsilon(plan, order_, request, begin, end, scratch, watch);
    }
  });
}

}  // namespace flexicase

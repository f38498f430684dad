// Plain data shared by the selection code: matrices, plans, requests, scratch space.
//
// The inner loops are compiled once per instruction set (see select/isa/tag.hpp), so these are
// structs of raw pointers; the code that fills them owns the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "flexicase/rng.hpp"

namespace flexicase {

class Watch;

enum class DType { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

// Calls f(T{}) with the entry type of a matrix.
template <class F>
FX_INLINE auto with_type(DType type, F&& f) {
  switch (type) {
    case DType::u8: return f(std::uint8_t{});
    case DType::i8: return f(std::int8_t{});
    case DType::u16: return f(std::uint16_t{});
    case DType::i16: return f(std::int16_t{});
    case DType::u32: return f(std::uint32_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::u64: return f(std::uint64_t{});
    case DType::i64: return f(std::int64_t{});
    case DType::f32: return f(float{});
    case DType::f64: break;
  }
  return f(double{});
}

// As with_type, for code that only compares entries for equality: the sign of integers does not matter to it.
template <class F>
FX_INLINE auto with_equality_type(DType type, F&& f) {
  switch (type) {
    case DType::u8:
    case DType::i8: return f(std::uint8_t{});
    case DType::u16:
    case DType::i16: return f(std::uint16_t{});
    case DType::u32:
    case DType::i32: return f(std::uint32_t{});
    case DType::u64:
    case DType::i64: return f(std::uint64_t{});
    case DType::f32: return f(float{});
    case DType::f64: break;
  }
  return f(double{});
}

// Errors (rows are individuals, columns are cases) as the caller holds them; strides in elements.
struct MatrixView {
  const void* data = nullptr;
  DType type = DType::f64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
};

// 64 bits that compare as the entries do; equal for 0.0 and -0.0.
template <class T>
FX_INLINE std::uint64_t ordered_bits(T v) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if constexpr (std::is_floating_point_v<T>) {
    const auto bits = __builtin_bit_cast(std::uint64_t, static_cast<double>(v) + 0.0);
    return (bits & sign) != 0 ? ~bits : bits | sign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)) ^ sign;
  } else {
    return static_cast<std::uint64_t>(v);
  }
}

// An entry as a number. NaN, which is there only if the caller has changed the errors, counts as infinite.
template <class T>
FX_INLINE double as_double(T v) {
  const auto x = static_cast<double>(v);
  if constexpr (std::is_floating_point_v<T>) return x == x ? x : __builtin_inf();
  return x;
}

// What the exact filter works on. Individuals with equal errors survive and fall together, so they
// share one unique row. Per case there is the set of unique rows with the best error of all.
struct BestSets {
  MatrixView values;                        // the errors, or one-byte codes of the first unique rows
  MatrixView uncoded;                       // the caller's matrix, if `values` lacks some unique rows
  std::int64_t individuals = 0;             // rows of the caller's matrix
  std::int64_t unique_rows = 0;             // distinct error vectors
  std::int64_t words = 0;                   // 64-bit words per set of unique rows, a multiple of 8
  const std::uint64_t* best = nullptr;      // (cols, words)
  const std::int32_t* n_best = nullptr;     // (cols,) how many unique rows are best
  const std::int32_t* only_best = nullptr;  // (cols,) the unique row if just one is best, else -1
  // (cols,) whether there are other errors than the best and the worst
  const std::uint8_t* has_more_than_two_values = nullptr;
  const std::int32_t* row_of = nullptr;         // (unique_rows,) its row in `values`, or ~r if it is row r of `uncoded`
  const std::int32_t* member_start = nullptr;   // (unique_rows + 1,) where its members begin in `members`
  const std::int32_t* members = nullptr;        // (rows,) individuals, by unique row, ascending
  const std::uint64_t* multiplicity = nullptr;  // (multiplicity_bits, words) binary digits of each unique row's size
  std::int64_t multiplicity_bits = 0;
};

enum class OrderKind { uniform, weighted, ranked };

inline constexpr int head_cases = 16;
inline constexpr int head_spins = 24;
inline constexpr int window_levels = 3;

// How cases are ordered. Tables are made once per kernel.
struct OrderPlan {
  OrderKind kind = OrderKind::uniform;
  std::int64_t cases = 0;
  // weighted
  const double* weights = nullptr;      // (cases,) scaled so that the largest is 1
  const double* wheel = nullptr;        // (cases,) running sums
  const std::int32_t* guide = nullptr;  // (guides,) where to start looking on the wheel
  std::int64_t guides = 0;
  double horizon[window_levels] = {};                  // clock readings that bound the windows
  const std::uint32_t* reachable[window_levels] = {};  // (cases, padded to 16) the largest key that may ring before
  // ranked
  const std::int32_t* by_rank = nullptr;    // (cases,) cases, heaviest first
  const std::int32_t* tie_start = nullptr;  // (cases,) the first rank with the same weight as this one
  const std::int32_t* tie_size = nullptr;   // (cases,) at such a first rank: how many have its weight
};

enum class Tolerance { none = 0, fixed = 1, mad = 2, dynamic_mad = 3 };

// Columns that are copied together: those that share a cache line of doubles.
inline constexpr std::int64_t column_tile = 8;

// The filter that keeps its pool as a list: everything that is not plain exact lexicase.
struct EpsilonPlan {
  MatrixView values;
  Tolerance tolerance = Tolerance::none;
  const double* epsilon = nullptr;            // (cols,) for fixed
  double* mad = nullptr;                      // (cols,) for mad, filled when first needed
  double* columns = nullptr;                  // (cols, rows) copies for mad, filled when first needed
  std::uint8_t* mad_ready = nullptr;          // (cols,)
  std::uint8_t* columns_ready = nullptr;      // one flag per tile of columns
  std::int64_t tile_offset = 0;               // columns by which the first tile is shorter
  const std::int32_t* first_equal = nullptr;  // (rows,) the first individual with the same errors; null if all differ
  std::int64_t batch = 1;
  std::int64_t depth = 0;
  bool random_depth = false;
  double slippage = 0.0;
};

enum class Ended : std::uint8_t { one_left = 0, cases_exhausted = 1, cut_short = 2 };

// Which events to run and where their outcome goes; counts are optional.
struct Request {
  Key key{};
  std::uint64_t first_event = 0;
  std::uint64_t event_step = 1;
  std::int64_t* indices = nullptr;
  std::int64_t* evaluations = nullptr;
  std::int64_t* evaluations_distinct = nullptr;
  std::int64_t* cases_used = nullptr;
  std::uint8_t* ended = nullptr;
  // (rows,) 1 for individuals that no event may select; events add theirs and run one after another. Null: with
  // replacement.
  std::uint8_t* taken = nullptr;
};

// Scratch space of one thread, one block of bytes carved up by the code that uses it.
struct Scratch {
  std::byte* memory = nullptr;
  std::size_t size = 0;
};

// How entries become one-byte codes: an integer from 0 to 255 is its own code. Where larger entries
// occur, but only one such value (a penalty), integers go up to 254 and 255 is the penalty.
struct CodeBook {
  bool penalised = false;
  std::uint64_t penalty = 0;  // bytes of that entry
};

// The inner loops for one instruction set. Each tells a watch how far it has come, which may end it.
struct Isa {
  const char* name;

  // Codes of a matrix, or false if it has none; may add a penalty to the book.
  bool (*encode)(const MatrixView&, std::uint8_t* codes, CodeBook* book, Watch&);

  // Smallest entry per column, in the matrix's own type, and the one row that has it (-1 if there
  // may be several); false if there is NaN.
  bool (*column_minima)(const MatrixView&, void* minima, std::int32_t* rows, Watch&);

  // For every unique row, bits of the entries equal to their column's minimum: (cols, words).
  void (*find_best)(const BestSets&, const void* minima, std::uint64_t* best, Watch&);

  // Updates smallest and largest code per column, and whether there are others, with more rows.
  void (*widen_ranges)(const MatrixView& codes, std::uint8_t* least, std::uint8_t* largest,
                       std::uint8_t* has_more_than_two_values, Watch&);

  // Per-row hashes; equal rows have equal hashes. `keys` has cols + 16 entries.
  void (*row_hashes)(const MatrixView&, const std::uint64_t* keys, std::uint64_t* hashes, Watch&);

  // Sizes of some sets, and the one member of those that have just one (else -1).
  void (*set_sizes)(const std::uint64_t* sets, std::int64_t count, std::int64_t words, std::int32_t* sizes,
                    std::int32_t* alone, Watch&);

  // Adds the exact zeros per column of some rows (null: the first `count`).
  void (*count_zeros)(const MatrixView&, const std::int32_t* rows, std::int64_t count, std::int64_t* zeros, Watch&);

  std::size_t (*exact_scratch)(const OrderPlan&, std::int64_t unique_rows);
  std::size_t (*epsilon_scratch)(const OrderPlan&, std::int64_t rows);
  void (*draw_exact)(const BestSets&, const OrderPlan&, const Request&, std::int64_t begin, std::int64_t end, Scratch,
                     Watch&);
  void (*draw_epsilon)(const EpsilonPlan&, const OrderPlan&, const Request&, std::int64_t begin, std::int64_t end,
                       Scratch, Watch&);

  // Of numbers without NaN; `work` has room for 3 (n + 8).
  double (*median_absolute_deviation)(const double* x, std::int64_t n, double* work);

  // 2 * pairs standard normal variables of a lane.
  void (*draw_normals)(std::uint64_t lane, std::int64_t pairs, double* out);

  // out[c] = exp((x[c] - largest) * scale)
  void (*exponentials)(const double* x, std::int64_t n, double largest, double scale, double* out);

  // sums[i] += weight * x[i]
  void (*add_scaled)(double weight, const double* x, std::int64_t n, double* sums);
};

// The best the processor has, or the one asked for by FLEXICASE_ISA (base, avx2, avx512).
const Isa& isa();

// Of numbers without NaN. `work` is room that is kept from call to call.
double median_absolute_deviation(const std::vector<double>& x, std::vector<double>& work);

}  // namespace flexicase

// Errors of (individual, case) pairs that were computed already: a matrix where it fits the memory
// budget, otherwise a hash table that stops growing when the budget is used up. NaN is unknown.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace flexicase {

class ErrorCache {
 public:
  ErrorCache(std::int64_t individuals, std::int64_t cases, std::uint64_t most_bytes);

  // What is known of some individuals on one case; returns how many are unknown.
  std::int64_t lookup(const std::int64_t* individuals, std::int64_t count, std::int64_t at_case, double* errors) const;
  // Keeps the errors of some individuals on one case, `step` apart in memory, as far as there is room.
  void store(const std::vector<std::int64_t>& individuals, std::int64_t at_case, const double* errors,
             std::int64_t step);
  // Forgets everything, at a cost that grows with what was stored and not with the size of the matrix.
  void clear();

  // From `begin` on, what is stored can be taken back until `commit`.
  void begin();
  void commit();
  void rollback();

  std::int64_t individuals() const { return individuals_; }
  // What another thread may ask for at any time.
  std::int64_t pairs() const { return pairs_.load(std::memory_order_relaxed); }
  std::int64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const;
  bool is_matrix() const { return is_matrix_; }

 private:
  struct Entry {
    std::uint64_t name;  // of the pair, from 1; 0 is a free entry
    std::uint64_t bits;
  };
  struct Free {
    void operator()(void* p) const;
  };

  std::uint64_t name_of(std::int64_t individual, std::int64_t at_case) const;
  void touch(std::int64_t at_case);
  void keep_in_matrix(const std::vector<std::int64_t>& individuals, std::int64_t at_case, const double* errors,
                      std::int64_t step);
  bool keep_in_table(std::uint64_t name, std::uint64_t bits);
  void forget(std::uint64_t name);
  Entry* find(std::uint64_t name) const;
  bool make_room();

  std::int64_t individuals_;
  std::uint64_t most_bytes_;
  bool is_matrix_;
  std::uint64_t matrix_bytes_ = 0;
  std::unique_ptr<std::uint64_t[], Free> matrix_;  // (cases, individuals), zero pages until written
  std::unique_ptr<Entry[], Free> table_;
  std::vector<std::uint64_t> begun_;      // a bit per case: whether anything may be known of it
  std::vector<std::int64_t> touched_;     // those cases
  std::atomic<std::uint64_t> slots_ = 0;  // a power of two
  std::uint64_t used_ = 0;
  std::atomic<std::int64_t> pairs_ = 0;
  std::atomic<std::int64_t> refused_ = 0;
  bool logging_ = false;
  std::vector<std::uint64_t> log_;  // names of the pairs stored since `begin`
  std::int64_t refused_before_ = 0;
};

}  // namespace flexicase

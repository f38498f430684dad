#include "flexicase/error_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <new>

#include "flexicase/rng.hpp"

namespace flexicase {

namespace {

// Errors are kept with the bits of NaN flipped, so that memory which was never written reads as NaN.
constexpr std::uint64_t nan_bits = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
constexpr std::uint64_t unknown = 0;
constexpr double bytes_per_pair = 16.0;  // its error, and its name in the log

// Adds to a number that only this thread changes.
template <class T>
void add(std::atomic<T>& sum, T more) {
  sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

double decoded(std::uint64_t bits) { return std::bit_cast<double>(bits ^ nan_bits); }
std::uint64_t encoded(double error) { return std::bit_cast<std::uint64_t>(error) ^ nan_bits; }

template <class T>
T* zeroed(std::uint64_t count) {
  void* memory = std::calloc(count == 0 ? 1 : count, sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

}  // namespace

void ErrorCache::Free::operator()(void* p) const { std::free(p); }

ErrorCache::ErrorCache(std::int64_t individuals, std::int64_t cases, std::uint64_t most_bytes)
    : individuals_(individuals),
      most_bytes_(most_bytes),
      is_matrix_(static_cast<double>(individuals) * static_cast<double>(cases) * bytes_per_pair <=
                 static_cast<double>(most_bytes)) {
  begun_.assign(static_cast<std::size_t>(cases) / 64 + 1, 0);
  if (!is_matrix_) return;
  const std::uint64_t entries = static_cast<std::uint64_t>(individuals) * static_cast<std::uint64_t>(cases);
  matrix_.reset(zeroed<std::uint64_t>(entries));
  matrix_bytes_ = entries * 8;
}

std::uint64_t ErrorCache::bytes() const {
  return is_matrix_ ? matrix_bytes_ : slots_.load(std::memory_order_relaxed) * sizeof(Entry);
}

std::uint64_t ErrorCache::name_of(std::int64_t individual, std::int64_t at_case) const {
  return static_cast<std::uint64_t>(at_case) * static_cast<std::uint64_t>(individuals_) +
         static_cast<std::uint64_t>(individual) + 1;
}

ErrorCache::Entry* ErrorCache::find(std::uint64_t name) const {
  const std::uint64_t last = slots_.load(std::memory_order_relaxed) - 1;
  std::uint64_t slot = mix64(name) & last;
  while (table_[slot].name != 0 && table_[slot].name != name) slot = (slot + 1) & last;
  return &table_[slot];
}

std::int64_t ErrorCache::lookup(const std::int64_t* individuals, std::int64_t count, std::int64_t at_case,
                                double* errors) const {
  if ((begun_[static_cast<std::size_t>(at_case) / 64] >> (at_case % 64) & 1) == 0) {
    for (std::int64_t i = 0; i < count; ++i) errors[i] = decoded(unknown);
    return count;
  }
  std::int64_t missing = 0;
  if (is_matrix_) {
    const std::uint64_t* row = matrix_.get() + at_case * individuals_;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t bits = row[individuals[i]];
      errors[i] = decoded(bits);
      missing += bits == unknown;
    }
    return missing;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = find(name_of(individuals[i], at_case))->bits;
    errors[i] = decoded(bits);
    missing += bits == unknown;
  }
  return missing;
}

bool ErrorCache::make_room() {
  const std::uint64_t slots = slots_.load(std::memory_order_relaxed);
  if (slots != 0 && (used_ + 1) * 4 <= slots * 3) return true;
  const std::uint64_t wider = slots == 0 ? 16 : slots * 2;
  const std::uint64_t logged = wider * sizeof(std::uint64_t);
  if ((slots + wider) * sizeof(Entry) + logged > most_bytes_) return false;  // both tables exist during the copy
  std::unique_ptr<Entry[], Free> old(zeroed<Entry>(wider));
  old.swap(table_);
  slots_ = wider;
  for (std::uint64_t s = 0; s < slots; ++s) {
    if (old[s].name != 0) *find(old[s].name) = old[s];
  }
  return true;
}

void ErrorCache::touch(std::int64_t at_case) {
  std::uint64_t& word = begun_[static_cast<std::size_t>(at_case) / 64];
  const std::uint64_t bit = std::uint64_t{1} << (at_case % 64);
  if ((word & bit) != 0) return;
  word |= bit;
  touched_.push_back(at_case);
}

bool ErrorCache::keep_in_table(std::uint64_t name, std::uint64_t bits) {
  if (!make_room()) {
    add<std::int64_t>(refused_, 1);
    return false;
  }
  if (logging_) log_.push_back(name);
  Entry* entry = find(name);
  used_ += entry->name == 0;
  add<std::int64_t>(pairs_, entry->bits == unknown);
  *entry = {name, bits};
  return true;
}

void ErrorCache::store(const std::vector<std::int64_t>& individuals, std::int64_t at_case, const double* errors,
                       std::int64_t step) {
  if (is_matrix_) {
    keep_in_matrix(individuals, at_case, errors, step);
    return;
  }
  for (const std::int64_t individual : individuals) {
    if (keep_in_table(name_of(individual, at_case), encoded(*errors))) touch(at_case);
    errors += step;
  }
}

void ErrorCache::keep_in_matrix(const std::vector<std::int64_t>& individuals, std::int64_t at_case,
                                const double* errors, std::int64_t step) {
  touch(at_case);
  if (logging_) {
    for (const std::int64_t individual : individuals) log_.push_back(name_of(individual, at_case));
  }
  std::uint64_t* row = matrix_.get() + at_case * individuals_;
  std::int64_t more = 0;
  for (const std::int64_t individual : individuals) {
    const std::uint64_t bits = encoded(*errors);
    more += row[individual] == unknown;
    row[individual] = bits;
    errors += step;
  }
  add(pairs_, more);
}

void ErrorCache::clear() {
  if (is_matrix_) {
    for (const std::int64_t c : touched_) std::fill_n(matrix_.get() + c * individuals_, individuals_, unknown);
  }
  table_.reset();
  slots_ = 0;
  used_ = 0;
  for (const std::int64_t c : touched_) begun_[static_cast<std::size_t>(c) / 64] = 0;
  touched_.clear();
  pairs_ = 0;
  refused_ = 0;
  refused_before_ = 0;
  commit();
}

void ErrorCache::forget(std::uint64_t name) {
  std::uint64_t& place = is_matrix_ ? matrix_[name - 1] : find(name)->bits;
  add<std::int64_t>(pairs_, place != unknown ? -1 : 0);
  place = unknown;
}

void ErrorCache::begin() {
  logging_ = true;
  log_.clear();
  refused_before_ = refused_;
}

void ErrorCache::commit() {
  logging_ = false;
  log_ = {};
}

void ErrorCache::rollback() {
  for (const std::uint64_t name : log_) forget(name);
  refused_ = refused_before_;
  commit();
}

}  // namespace flexicase

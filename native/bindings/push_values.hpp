// Push values to and from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <unordered_map>

#include "push/genome.hpp"
#include "push/machine.hpp"

namespace push_values {

// How deeply code from Python may be nested, and how many points it may have: tuples that share their parts can stand
// for more code than any memory holds.
inline constexpr std::size_t kMaxDepth = 10'000;
inline constexpr std::int64_t kMaxPoints = 10'000'000;

// What messages call a value: name, name[i] or name[i][j].
struct Place {
  const char* name;
  std::int64_t i = -1, j = -1;

  std::string text() const;
};

// The Python classes of symbols, characters, single-precision floats and integers that print with an N, and NumPy's of
// integers, floats and booleans.
void set_types(nanobind::object symbol, nanobind::object character, nanobind::object single, nanobind::object big,
               nanobind::object integers, nanobind::object floats, nanobind::object booleans);
flexicase::push::Item from_python(nanobind::handle value, flexicase::push::Arena& arena, const Place& place,
                                  std::size_t max_depth = kMaxDepth);
nanobind::object text_to_python(const char16_t* text, std::size_t length);

// Items become Python objects. What items share is converted once: equal slices of memory become the same object, so
// that a state takes about as much memory in Python as in the machine. Raises MemoryError beyond `limit` bytes.
class ToPython {
 public:
  explicit ToPython(std::size_t limit = SIZE_MAX) : left_(limit) {}

  nanobind::object operator()(const flexicase::push::Item& item);
  // Counts memory that the caller takes for what is converted.
  void count(std::size_t bytes);

 private:
  struct Slice {
    const void* start;
    std::uint64_t kind_and_length;
    bool operator==(const Slice&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Slice& slice) const {
      return std::hash<const void*>()(slice.start) ^ (slice.kind_and_length * 0x9E3779B97F4A7C15u);
    }
  };

  nanobind::object atom(const flexicase::push::Item& item);
  nanobind::object list(const flexicase::push::Item& item);
  const nanobind::object* known(const flexicase::push::Item& item) const;

  std::size_t left_;
  std::unordered_map<Slice, nanobind::object, Hash> known_;
};

// The exception of an instruction that failed; None if there is none.
nanobind::object error_to_python(std::exception_ptr failure);

}  // namespace push_values

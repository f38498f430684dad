// What crosses between the events of Fast Lexicase and the evaluator: index arrays out, errors in.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flexicase {

// NumPy arrays of indices, cut from larger pieces of memory; no place is handed out twice.
class IndexArrayPool {
 public:
  // A new (n,) int64 array that may be overwritten and kept.
  nanobind::object copy(const std::vector<std::int64_t>& indices);

 private:
  void make_room(std::size_t count);

  nanobind::object array_;
  std::int64_t* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

// The errors in an ordinary NumPy array, read in place or converted. All that needs a second look
// (other objects and types, other shapes, NaN, integers beyond 2^53) is not plain.
class BlockReader {
 public:
  BlockReader() = default;
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  ~BlockReader() { release(); }

  bool read(PyObject* found, std::int64_t rows, std::int64_t columns);
  // (rows, columns), until `release`.
  const double* data() const { return data_; }
  void release();

 private:
  bool convert(std::int64_t rows, std::int64_t columns);

  Py_buffer view_{};
  bool held_ = false;
  const double* data_ = nullptr;
  std::vector<double> converted_;
};

}  // namespace flexicase

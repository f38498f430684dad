#include "fast_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace nb = nanobind;

namespace flexicase {

namespace {

constexpr std::size_t room_for = 1024;
constexpr double most_exact = 0x1p53;

// Names of NumPy's that are looked up once and live as long as the interpreter.
struct Numpy {
  PyObject* frombuffer;
  PyObject* int64;
  PyObject* ndarray;

  static const Numpy& get() {
    static const Numpy numpy = [] {
      const nb::module_ module = nb::module_::import_("numpy");
      const nb::object int64 = module.attr("dtype")("int64");
      return Numpy{nb::object(module.attr("frombuffer")).release().ptr(), nb::object(int64).release().ptr(),
                   nb::object(module.attr("ndarray")).release().ptr()};
    }();
    return numpy;
  }
};

// Errors of type T as doubles; false if one of them is NaN or not exactly a double.
template <class T>
bool converted(const Py_buffer& view, double* out) {
  bool plain = true;
  for (Py_ssize_t i = 0; i < view.shape[0]; ++i) {
    const char* row = static_cast<const char*>(view.buf) + i * view.strides[0];
    for (Py_ssize_t j = 0; j < view.shape[1]; ++j) {
      T value;
      std::memcpy(&value, row + j * view.strides[1], sizeof(T));
      const auto error = static_cast<double>(value);
      if constexpr (std::is_floating_point_v<T>) plain &= error == error;
      if constexpr (std::is_integral_v<T> && sizeof(T) == 8) plain &= std::fabs(error) <= most_exact;
      *out++ = error;
    }
  }
  return plain;
}

bool converted_signed(const Py_buffer& view, double* out) {
  if (view.itemsize == 1) return converted<std::int8_t>(view, out);
  if (view.itemsize == 2) return converted<std::int16_t>(view, out);
  if (view.itemsize == 4) return converted<std::int32_t>(view, out);
  return converted<std::int64_t>(view, out);
}

bool converted_unsigned(const Py_buffer& view, double* out) {
  if (view.itemsize == 1) return converted<std::uint8_t>(view, out);
  if (view.itemsize == 2) return converted<std::uint16_t>(view, out);
  if (view.itemsize == 4) return converted<std::uint32_t>(view, out);
  return converted<std::uint64_t>(view, out);
}

}  // namespace

// The memory is that of a bytearray, which cannot be moved while the array on top of it lives.
void IndexArrayPool::make_room(std::size_t count) {
  const Numpy& numpy = Numpy::get();
  size_ = std::max(count, room_for);
  used_ = 0;
  const auto bytes = static_cast<Py_ssize_t>(size_ * sizeof(std::int64_t));
  const nb::object owner = nb::steal(PyByteArray_FromStringAndSize(nullptr, bytes));
  if (!owner.is_valid()) throw nb::python_error();
  memory_ = reinterpret_cast<std::int64_t*>(PyByteArray_AsString(owner.ptr()));
  array_ = nb::handle(numpy.frombuffer)(owner, nb::handle(numpy.int64));
}

nb::object IndexArrayPool::copy(const std::vector<std::int64_t>& indices) {
  if (!array_.is_valid() || indices.size() > size_ - used_) make_room(indices.size());
  std::copy(indices.begin(), indices.end(), memory_ + used_);
  const std::size_t end = used_ + indices.size();
  nb::object cut =
      nb::steal(PySequence_GetSlice(array_.ptr(), static_cast<Py_ssize_t>(used_), static_cast<Py_ssize_t>(end)));
  if (!cut.is_valid()) throw nb::python_error();
  used_ = end;
  return cut;
}

bool BlockReader::read(PyObject* found, std::int64_t rows, std::int64_t columns) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(found)) != Numpy::get().ndarray) return false;
  if (PyObject_GetBuffer(found, &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();  // of a type that has no buffer format
    return false;
  }
  held_ = true;
  if (view_.ndim == 2 && view_.shape[0] == rows && view_.shape[1] == columns && convert(rows, columns)) return true;
  release();
  return false;
}

bool BlockReader::convert(std::int64_t rows, std::int64_t columns) {
  if (view_.format == nullptr || view_.format[0] == 0 || view_.format[1] != 0) return false;
  const char kind = view_.format[0];
  const std::int64_t count = rows * columns;
  if (kind == 'd' && PyBuffer_IsContiguous(&view_, 'C') != 0 &&
      reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(double) == 0) {
    data_ = static_cast<const double*>(view_.buf);
    bool plain = true;
    for (std::int64_t k = 0; k < count; ++k) plain &= data_[k] == data_[k];
    return plain;
  }
  converted_.resize(static_cast<std::size_t>(count));
  data_ = converted_.data();
  if (kind == 'd') return converted<double>(view_, converted_.data());
  if (kind == 'f') return converted<float>(view_, converted_.data());
  if (std::strchr("bhilq", kind) != nullptr) return converted_signed(view_, converted_.data());
  if (std::strchr("?BHILQ", kind) != nullptr) return converted_unsigned(view_, converted_.data());
  return false;
}

void BlockReader::release() {
  if (held_) PyBuffer_Release(&view_);
  held_ = false;
}

}  // namespace flexicase

// NumPy arrays as arguments and results.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "flexicase/select.hpp"

namespace flexicase {

template <class T, int dimensions = 1>
using In = nanobind::ndarray<const T, nanobind::ndim<dimensions>, nanobind::c_contig, nanobind::device::cpu>;
template <class T, int dimensions = 1>
using Out = nanobind::ndarray<T, nanobind::ndim<dimensions>, nanobind::c_contig, nanobind::device::cpu>;
using AnyMatrix = nanobind::ndarray<nanobind::ro, nanobind::ndim<2>, nanobind::device::cpu>;

template <class Array>
std::int64_t length(const Array& array, std::size_t axis = 0) {
  return static_cast<std::int64_t>(array.shape(axis));
}

// A new array that owns its values.
template <class T>
auto owned_array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(kept->data(), {kept->size()}, owner);
}

inline DType dtype_of(nanobind::dlpack::dtype t) {
  using Code = nanobind::dlpack::dtype_code;
  const auto code = static_cast<Code>(t.code);
  const auto choose = [&](DType bits8, DType bits16, DType bits32, DType bits64) {
    return t.bits == 8 ? bits8 : t.bits == 16 ? bits16 : t.bits == 32 ? bits32 : bits64;
  };
  if (code == Code::Bool && t.bits == 8) return DType::u8;
  if (code == Code::UInt) return choose(DType::u8, DType::u16, DType::u32, DType::u64);
  if (code == Code::Int) return choose(DType::i8, DType::i16, DType::i32, DType::i64);
  if (code == Code::Float && t.bits >= 32 && t.bits <= 64) return t.bits == 32 ? DType::f32 : DType::f64;
  throw nanobind::type_error("unsupported entry type");
}

inline MatrixView view_of(const AnyMatrix& a) {
  return {a.data(), dtype_of(a.dtype()), length(a), length(a, 1), a.stride(0), a.stride(1)};
}

}  // namespace flexicase

// A view of a tensor's bytes: where, of what type, how large. It owns nothing; the arena does.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "fourhold/base/dims.h"
#include "fourhold/base/dtype.h"
#include "fourhold/engine/tensor/bf16.h"

namespace fourhold::engine {

// The C++ type of an element, for the types that kernels compute with.
template <typename T>
inline constexpr DType kDTypeOf = DType::fp32;
template <>
inline constexpr DType kDTypeOf<Bf16> = DType::bf16;
template <>
inline constexpr DType kDTypeOf<double> = DType::fp64;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::int32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::int64;
template <>
inline constexpr DType kDTypeOf<std::uint16_t> = DType::int16;  // 16 bits of something

// Contiguous, outermost dimension first.
struct Tensor {
  std::byte* data = nullptr;
  DType dtype = DType::fp32;
  Dims dims;

  [[nodiscard]] std::int64_t elements() const { return dims.elements(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(elements(), dtype); }
  // Product of all dimensions but the last; 1 for a scalar.
  [[nodiscard]] std::int64_t rows() const { return dims.rank() == 0 ? 1 : elements() / width(); }
  // The last dimension; 1 for a scalar.
  [[nodiscard]] std::int64_t width() const { return dims.rank() == 0 ? 1 : dims[dims.rank() - 1]; }

  // The elements as T. The type must be the tensor's.
  template <typename T>
  [[nodiscard]] std::span<T> as() const {
    assert(dtype == kDTypeOf<std::remove_const_t<T>> && "a tensor is read as what it is");
    return {reinterpret_cast<T*>(data), static_cast<std::size_t>(elements())};
  }
};

}  // namespace fourhold::engine

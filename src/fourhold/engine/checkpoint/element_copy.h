// Copies a matrix of elements, changing type and orientation on the way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fourhold/base/dtype.h"

namespace fourhold::engine {

// Where element (row, column) stands: strides count elements. Data need not be aligned.
struct ElementSource {
  const std::byte* data = nullptr;
  DType dtype = DType::fp32;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};
struct ElementTarget {
  std::byte* data = nullptr;
  DType dtype = DType::fp32;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};

// Whether elements of `from` can become elements of `to`: the same type; or fp32, bf16 or fp16 to
// fp32 or bf16.
[[nodiscard]] bool can_convert(DType from, DType to);

// Copies rows x columns elements; can_convert must hold. What bf16 cannot hold is rounded to
// nearest, ties to even; equal types are copied bit for bit.
void copy_elements(const ElementSource& from, const ElementTarget& to, std::int64_t rows,
                   std::int64_t columns);

}  // namespace fourhold::engine

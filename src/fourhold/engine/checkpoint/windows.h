// A part of a parameter as rectangles of its matrix: what files are read and written in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fourhold/plan/slice.h"

namespace fourhold::engine {

// A rectangle of a parameter's matrix (model::MatrixSize).
struct Window {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t column_begin = 0;
  std::int64_t column_end = 0;
  [[nodiscard]] std::int64_t rows() const { return row_end - row_begin; }
  [[nodiscard]] std::int64_t columns() const { return column_end - column_begin; }
  friend constexpr bool operator==(const Window&, const Window&) = default;
};

// A window and where it stands in what is held of the parameter.
struct HeldWindow {
  Window window;
  std::int64_t offset = 0;      // of its first element
  std::int64_t row_stride = 0;  // from one of its rows to the next
  friend constexpr bool operator==(const HeldWindow&, const HeldWindow&) = default;
};

// Slices of the flattened matrix of `columns` columns, held one after the other. Whole rows and
// columns of rows become one window each.
[[nodiscard]] std::vector<HeldWindow> windows_of(std::span<const plan::Slice> slices,
                                                 std::int64_t columns);

}  // namespace fourhold::engine

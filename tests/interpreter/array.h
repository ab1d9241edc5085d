// A dense row-major array of doubles, whatever type the program states for it.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/base/dims.h"

namespace fourhold::interpreter {

// A row of routed tokens: the expert it goes to, and where it comes from (places in the ep and tp
// groups, row of the sender's permuted rows).
struct RoutedRow {
  std::int64_t expert = 0;
  std::int64_t ep = 0;
  std::int64_t tp = 0;
  std::int64_t row = 0;
  friend bool operator==(const RoutedRow&, const RoutedRow&) = default;
};

struct Array {
  Dims dims;
  std::vector<double> data;
  std::vector<RoutedRow> routed;  // one per row of a routed tensor, else empty

  Array() = default;
  // Zeros.
  explicit Array(const Dims& sizes);

  [[nodiscard]] bool exists() const { return !data.empty() || dims.rank() > 0; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }
  // The first dimension, 1 for a scalar; and the elements of one row.
  [[nodiscard]] std::int64_t rows() const { return dims.rank() == 0 ? 1 : dims[0]; }
  [[nodiscard]] std::int64_t width() const;
  [[nodiscard]] double* row(std::int64_t i) { return data.data() + i * width(); }
  [[nodiscard]] const double* row(std::int64_t i) const { return data.data() + i * width(); }
};

// Zeros of the same shape and rows.
[[nodiscard]] Array zeros_like(const Array& array);
// a += b. Throws ProgramFault when the sizes or the routed rows differ.
void add_to(Array& a, const Array& b);
// The rows first .. first + count - 1, and rows named one by one.
[[nodiscard]] Array rows_of(const Array& array, std::int64_t first, std::int64_t count);
[[nodiscard]] Array picked_rows(const Array& array, const std::vector<std::int64_t>& rows);
// All rows of the parts, in order.
[[nodiscard]] Array concatenated(const std::vector<const Array*>& parts);

}  // namespace fourhold::interpreter

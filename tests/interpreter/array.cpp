#include "tests/interpreter/array.h"

#include <algorithm>
#include <numeric>

#include "tests/interpreter/fault.h"

namespace fourhold::interpreter {
namespace {

Dims with_rows(const Dims& dims, std::int64_t rows) {
  Dims changed{rows};
  for (int i = 1; i < dims.rank(); ++i) changed.push_back(dims[i]);
  return changed;
}

}  // namespace

Array::Array(const Dims& sizes)
    : dims(sizes), data(static_cast<std::size_t>(sizes.elements()), 0.0) {}

std::int64_t Array::width() const {
  std::int64_t width = 1;
  for (int i = 1; i < dims.rank(); ++i) width *= dims[i];
  return width;
}

Array zeros_like(const Array& array) {
  Array zeros(array.dims);
  zeros.routed = array.routed;
  return zeros;
}

void add_to(Array& a, const Array& b) {
  if (a.data.size() != b.data.size()) {
    throw ProgramFault("a sum of " + to_string(a.dims) + " and " + to_string(b.dims));
  }
  if (a.routed != b.routed) throw ProgramFault("a sum of rows that belong to different tokens");
  for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i] += b.data[i];
}

Array rows_of(const Array& array, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), first);
  return picked_rows(array, rows);
}

Array picked_rows(const Array& array, const std::vector<std::int64_t>& rows) {
  Array picked(with_rows(array.dims, static_cast<std::int64_t>(rows.size())));
  std::int64_t to = 0;
  for (const std::int64_t from : rows) {
    if (from >= array.rows()) throw ProgramFault("row past the end of " + to_string(array.dims));
    std::copy(array.row(from), array.row(from) + array.width(), picked.row(to++));
    if (!array.routed.empty()) {
      picked.routed.push_back(array.routed[static_cast<std::size_t>(from)]);
    }
  }
  return picked;
}

Array concatenated(const std::vector<const Array*>& parts) {
  std::int64_t rows = 0;
  for (const Array* part : parts) rows += part->rows();
  Array whole(with_rows(parts.front()->dims, rows));
  std::int64_t to = 0;
  for (const Array* part : parts) {
    if (part->width() != whole.width()) {
      throw ProgramFault("rows of " + to_string(part->dims) + " joined to " +
                         to_string(parts.front()->dims));
    }
    std::copy(part->data.begin(), part->data.end(), whole.row(to));
    to += part->rows();
    whole.routed.insert(whole.routed.end(), part->routed.begin(), part->routed.end());
  }
  return whole;
}

}  // namespace fourhold::interpreter

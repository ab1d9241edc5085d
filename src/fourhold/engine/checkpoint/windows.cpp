#include "fourhold/engine/checkpoint/windows.h"

#include <algorithm>

namespace fourhold::engine {
namespace {

// The rest of the first row, whole rows, the start of the last one.
void add_run(std::int64_t begin, std::int64_t end, std::int64_t columns, std::int64_t offset,
             std::vector<HeldWindow>& windows) {
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / columns;
    const std::int64_t column = at % columns;
    const bool whole = column == 0 && end - at >= columns;
    const std::int64_t rows = whole ? (end - at) / columns : 1;
    const std::int64_t width = whole ? columns : std::min(columns - column, end - at);
    windows.push_back({{row, row + rows, column, column + width}, offset + at - begin, width});
    at += rows * width;
  }
}

}  // namespace

std::vector<HeldWindow> windows_of(std::span<const plan::Slice> slices, std::int64_t columns) {
  std::vector<HeldWindow> windows;
  std::int64_t offset = 0;
  for (const plan::Slice& slice : slices) {
    const std::int64_t row = slice.begin / columns;
    const std::int64_t column = slice.begin % columns;
    if (slice.count > 1 && slice.stride == columns && column + slice.length <= columns) {
      windows.push_back(
          {{row, row + slice.count, column, column + slice.length}, offset, slice.length});
    } else {
      for (std::int64_t run = 0; run < slice.count; ++run) {
        const std::int64_t begin = slice.begin + run * slice.stride;
        add_run(begin, begin + slice.length, columns, offset + run * slice.length, windows);
      }
    }
    offset += slice.elements();
  }
  return windows;
}

}  // namespace fourhold::engine

// Bounds of numbers that people write, both included, and how they read in Errors.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace fourhold {

struct IntegerRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool whole = true;  // all of it is legal; else what is depends on other values too
};

// NaN and infinities are outside every range.
struct NumberRange {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
};

// "from 1 to 8", "at least 1", "at most 8": one-sided ranges are the common case.
[[nodiscard]] std::string range_text(IntegerRange range);
// The same, and "finite".
[[nodiscard]] std::string range_text(NumberRange range);

}  // namespace fourhold

#include "fourhold/base/range.h"

#include <fmt/format.h>

namespace fourhold {

std::string range_text(IntegerRange range) {
  if (range.most == std::numeric_limits<std::int64_t>::max()) {
    return fmt::format("at least {}", range.least);
  }
  if (range.least == std::numeric_limits<std::int64_t>::min()) {
    return fmt::format("at most {}", range.most);
  }
  return fmt::format("from {} to {}", range.least, range.most);
}

std::string range_text(NumberRange range) {
  if (range.most == std::numeric_limits<double>::max()) {
    if (range.least == std::numeric_limits<double>::lowest()) return "finite";
    return fmt::format("finite and at least {}", range.least);
  }
  if (range.least == std::numeric_limits<double>::lowest()) {
    return fmt::format("at most {}", range.most);
  }
  return fmt::format("from {} to {}", range.least, range.most);
}

}  // namespace fourhold

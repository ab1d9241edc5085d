#include "fourhold/base/parse_number.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace fourhold {

std::optional<double> parse_number(std::string_view text) {
  const std::string digits(text);
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  const bool whole = !digits.empty() && end == digits.c_str() + digits.size();
  if (!whole || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace fourhold

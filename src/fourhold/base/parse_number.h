// Floating-point numbers as people type them.
#pragma once

#include <optional>
#include <string_view>

namespace fourhold {

// The finite number that the whole text is, as in "0.05" and "1e-3"; nothing for any other text.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

}  // namespace fourhold

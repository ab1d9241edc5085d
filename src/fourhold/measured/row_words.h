// Words in the columns of a row, which every source writes its own way.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fourhold/base/ascii.h"

namespace fourhold::measured {

[[nodiscard]] bool contains(std::string_view text, std::string_view part);
[[nodiscard]] bool starts_with(std::string_view text, std::string_view part);

// The whole number right behind the first `mark` in the text: 8 for "lora r=8 (1,572,864)" and
// "r=". Nothing where there is none.
[[nodiscard]] std::optional<std::int64_t> number_behind(std::string_view text,
                                                        std::string_view mark);

}  // namespace fourhold::measured

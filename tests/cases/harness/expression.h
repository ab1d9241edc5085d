// The right side of a JSON check: numbers, units, and values of this or an earlier run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "tests/cases/harness/words.h"

namespace fourhold::cases {

// The JSON of the runs so far: "" is the present one, others by their 'name:'.
using Documents = std::map<std::string, json::Value, std::less<>>;

// "8_030_261_248", "1.5e9", "24GiB", "31.4GB"; nothing when it is no number. Holds every 64-bit
// integer exactly on x86.
[[nodiscard]] std::optional<long double> parse_number(std::string_view text);

// Words as `16 * .model.parameters + 2GiB`; * and / bind tighter, operators stand between blanks. A
// value is a number, a path of the present run (.a.b) or of a named one (small.a.b). Throws Error.
[[nodiscard]] long double evaluate(const std::vector<Word>& words, const Documents& documents);

}  // namespace fourhold::cases

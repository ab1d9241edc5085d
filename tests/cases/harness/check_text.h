// Decides the lines about what a program printed or wrote.
#pragma once

#include <string>
#include <vector>

#include "tests/cases/harness/process.h"
#include "tests/cases/harness/words.h"

namespace fourhold::cases {

// Each returns nothing when the check holds, else what was found instead, and throws Error when the
// line itself is wrong. `folder` is where the program ran.
[[nodiscard]] std::string check_text(const std::vector<Word>& words, const Outcome& outcome,
                                     const std::string& folder);
[[nodiscard]] std::string check_columns(const std::vector<Word>& words, const Outcome& outcome);
[[nodiscard]] std::string check_exit(const std::vector<Word>& words, const Outcome& outcome);

}  // namespace fourhold::cases

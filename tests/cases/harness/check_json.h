// Decides one 'json:' line.
#pragma once

#include <string>
#include <vector>

#include "tests/cases/harness/expression.h"
#include "tests/cases/harness/words.h"

namespace fourhold::cases {

// Empty when the check holds, else what was found instead. `words` are path, operator and value;
// documents[""] is the run's own JSON. Throws Error when the line itself is wrong.
[[nodiscard]] std::string check_json(const std::vector<Word>& words, const Documents& documents);

}  // namespace fourhold::cases

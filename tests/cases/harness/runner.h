// Runs a case file against a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/cases/harness/case_file.h"

namespace fourhold::cases {

struct Result {
  std::int64_t checks = 0;
  std::vector<std::string> failures;  // "PATH:LINE: the check: what was found instead"
  std::vector<std::string>
      shortfalls;  // checks that fail as their case says they do, with the cause
};

// Input files go to a fresh temporary folder, in which the program runs and which is removed. A run
// with 'json:' lines is made once more with --json added; both must end with the same code, 0
// unless an 'exit:' line says otherwise. `source` replaces ${source} in arguments.
[[nodiscard]] Result run_case(const CaseFile& file, const std::string& program,
                              const std::string& source);

}  // namespace fourhold::cases

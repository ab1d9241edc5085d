// What every program of the command line does around its answer.
#pragma once

#include <string>
#include <vector>

#include "fourhold/base/error.h"

namespace fourhold::shell {

// Runs `answer` on the words behind the program's name and returns the exit code: its own, that of
// an Error, whose text goes to standard error (of several ranks that of the first), or 3 for a
// fault of ours.
[[nodiscard]] int run_program(int argc, char** argv,
                              ExitCode (*answer)(const std::vector<std::string>& words));

}  // namespace fourhold::shell

// Verbs that need the training engine are answered by a program of their own, so that this one
// starts in milliseconds.
#pragma once

#include <string>
#include <vector>

namespace fourhold::cli {

// Whether fourhold-engine lies beside this program.
[[nodiscard]] bool has_engine();

// Becomes fourhold-engine, which lies beside this program, with the same words. Returns only by
// throwing Error: the program is not there, or cannot be started.
[[noreturn]] void become_engine(const std::vector<std::string>& words);

}  // namespace fourhold::cli

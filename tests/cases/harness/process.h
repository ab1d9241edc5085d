// Running a program to its end, with its output in hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fourhold::cases {

struct Command {
  std::string program;
  std::vector<std::string> arguments;
  std::string folder;                                            // it runs there
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  unsigned timeout_seconds = 60;
};

struct Outcome {
  int exit_code = 0;  // 128 + the signal's number when a signal ended it
  std::string out;
  std::string err;
};

// Standard input is empty; COLUMNS and NO_COLOR of the caller are not passed on, so that a case
// means the same everywhere. Throws Error when the program cannot be started.
[[nodiscard]] Outcome run_process(const Command& command);

// The contents of a file. Throws Error when it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace fourhold::cases

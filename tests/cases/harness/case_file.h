// A case file as a value: the input files it writes, the runs it makes, what each must show.
//
// The format is described in tests/cases/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cases/harness/words.h"

namespace fourhold::cases {

// One expectation, kept as the words after its keyword.
struct Check {
  enum class Kind : std::uint8_t {
    exit,     // exit: 2
    json,     // json: .path op value
    text,     // stdout|stderr|wrote NAME ... contains|lacks|is empty
    columns,  // columns <= 80
  };
  Kind kind = Kind::exit;
  std::int64_t line = 0;
  std::string text;  // as written, for the report
  std::vector<Word> words;
  std::string shortfall{};  // why it does not hold yet; empty: it must hold
};

struct Run {
  std::int64_t line = 0;
  std::string name;  // later runs refer to its JSON by this name; may be empty
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<Check> checks;
};

struct InputFile {
  std::string name;
  std::string text;
};

struct CaseFile {
  std::string path;
  std::vector<InputFile> files;
  std::vector<Run> runs;
};

// Throws Error("PATH:LINE", ...) on a line that is none of the format's, on a run without a check,
// and on a file that states no source.
[[nodiscard]] CaseFile parse_case_file(const std::string& path, std::string_view text);

}  // namespace fourhold::cases

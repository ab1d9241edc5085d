// The verbs of the command line as values: names, options, examples, and what runs them. Parsing,
// help, the manual page, completion and bindings all read this table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/api/arguments.h"
#include "fourhold/api/option.h"
#include "fourhold/api/progress.h"
#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

enum class Form : std::uint8_t { text, json };

// Whether the folder of a file is made where it is missing.
enum class Folder : std::uint8_t { must_exist, made };

struct Output {
  std::string text;                // for standard output
  std::vector<std::string> notes;  // for standard error
  ExitCode exit_code = ExitCode::done;
  struct File {
    std::string path;
    std::string content;
    Folder folder = Folder::must_exist;
  };
  std::vector<File> files;  // written before the text, which is printed in any case
};

struct Example {
  std::string_view command;  // without the program's name
  std::string_view says;     // what it asks
};

struct Verb {
  std::string_view name;
  std::string_view operands;     // "MODEL", "A B" ...
  std::string_view summary;      // one line
  std::string_view description;  // a paragraph
  std::span<const Example> examples;
  std::vector<OptionInfo> (*options)();
  // Null for a verb that the engine's program answers.
  Output (*run)(const Arguments& arguments, Form form, const report::Screen& screen,
                const Progress& progress);
  json::Value (*call)(const json::Value& request);  // the same question asked in JSON
};

// In the order in which people need them.
[[nodiscard]] std::span<const Verb> verbs();

// Error with near matches for an unknown name.
[[nodiscard]] const Verb& verb_named(std::string_view name);

// What every verb takes besides: --json, --color, --help.
[[nodiscard]] std::vector<OptionInfo> common_options();

// The one door for bindings: {"verb": "fit", "model": "gpt2", "device": "t4", ...} to the answer
// that `--json` prints. Errors as on the command line.
[[nodiscard]] json::Value call(const json::Value& request);

}  // namespace fourhold::api

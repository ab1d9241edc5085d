// fourhold: reads the command line, asks the planner, prints.
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/engine_program.h"
#include "apps/cli/heap.h"
#include "apps/shell/first_rank.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "apps/shell/parse.h"
#include "apps/shell/program.h"
#include "apps/shell/progress.h"
#include "apps/shell/terminal.h"
#include "fourhold/api/help.h"
#include "fourhold/api/verbs.h"
#include "fourhold/base/error.h"
#include "fourhold/base/version.h"

namespace {

using fourhold::Error;
using fourhold::ExitCode;
namespace api = fourhold::api;
namespace cli = fourhold::cli;
namespace shell = fourhold::shell;

std::string version_text() {
  const fourhold::BuildInfo build = fourhold::build_info();
  return fmt::format("fourhold {} ({}, {}, {})\n", build.version, build.commit, build.compiler,
                     build.build_type);
}

[[noreturn]] void become_engine(const api::Verb& verb, const std::vector<std::string>& words) {
  std::vector<std::string> all{std::string(verb.name)};
  all.insert(all.end(), words.begin(), words.end());
  cli::become_engine(all);
}

// Of several ranks one is to say what is wrong with the words: the engine knows which.
shell::ParsedVerb read_words(const api::Verb& verb, const std::vector<std::string>& words) {
  try {
    return shell::parse_verb(verb, words);
  } catch (const Error&) {
    if (verb.run == nullptr && cli::has_engine()) become_engine(verb, words);
    throw;
  }
}

// What every rank would print alike.
ExitCode answer_once(const std::string& text) {
  if (shell::is_first_rank()) shell::write_output(text);
  return ExitCode::done;
}

// A search is not begun for a file that cannot be kept.
void require_places(const api::Verb& verb, const api::Arguments& arguments) {
  for (const api::OptionInfo& option : verb.options()) {
    if (option.group != api::OptionGroup::output || option.kind != api::ValueKind::file) continue;
    for (const api::Arguments::Given& given : arguments.options) {
      if (given.flag == option.flag) shell::require_writable(given.text);
    }
  }
}

// The answer is printed whatever becomes of its files; the first fault of theirs is thrown then.
void write_all(const api::Output& output) {
  std::optional<Error> fault;
  for (const api::Output::File& file : output.files) {
    try {
      if (file.folder == api::Folder::made) shell::make_folder_of(file.path);
      shell::write_file(file.path, file.content);
    } catch (const Error& error) {
      if (!fault) fault = error;
    }
  }
  shell::write_output(output.text);
  for (const std::string& note : output.notes) {
    shell::write_note(shell::labelled("note: ", note));
  }
  if (fault) throw *fault;
}

ExitCode run_verb(const api::Verb& verb, const std::vector<std::string>& words) {
  const shell::ParsedVerb parsed = read_words(verb, words);
  const fourhold::report::Screen screen = shell::screen_of_output(parsed.color);
  if (parsed.help) return answer_once(api::help_text(verb, screen));
  if (verb.run == nullptr) become_engine(verb, words);
  // A search holds megabytes, also that for what a prediction leaves open.
  if (verb.name == "plan" || verb.name == "predict") cli::prepare_heap();
  if (!shell::is_first_rank()) {
    // What the first says and writes; the exit code is every rank's.
    return verb.run(parsed.arguments, parsed.form, screen, {}).exit_code;
  }
  require_places(verb, parsed.arguments);
  const api::Output output = [&] {
    shell::ProgressLine progress;
    return verb.run(parsed.arguments, parsed.form, screen, progress.function());
  }();
  write_all(output);
  return output.exit_code;
}

ExitCode run(const std::vector<std::string>& words) {
  if (words.empty()) {
    if (shell::is_first_rank()) {
      shell::write_note(api::overview_text(shell::screen_of_output(shell::ColorWhen::never)));
    }
    return ExitCode::bad_input;  // nothing was asked
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    if (words.size() > 1 && first == "help") {
      return run_verb(api::verb_named(words[1]), {"--help"});
    }
    return answer_once(api::overview_text(shell::screen_of_output(shell::ColorWhen::automatic)));
  }
  if (first == "--version" || first == "version") {
    return answer_once(version_text());
  }
  if (!first.empty() && first.front() == '-') {
    throw Error(first, "stands before the command",
                "write `fourhold COMMAND` first, its options behind it");
  }
  return run_verb(api::verb_named(first), {words.begin() + 1, words.end()});
}

}  // namespace

int main(int argc, char** argv) { return shell::run_program(argc, argv, run); }

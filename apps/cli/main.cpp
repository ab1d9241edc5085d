// fourhold: reads the command line, asks the planner, prints.
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/heap.h"
#include "apps/cli/output.h"
#include "apps/cli/parse.h"
#include "apps/cli/progress.h"
#include "apps/cli/terminal.h"
#include "fourhold/api/help.h"
#include "fourhold/api/verbs.h"
#include "fourhold/base/error.h"
#include "fourhold/base/version.h"
#include "fourhold/report/text.h"

namespace {

using fourhold::Error;
using fourhold::ExitCode;
namespace api = fourhold::api;
namespace cli = fourhold::cli;
namespace report = fourhold::report;

std::string version_text() {
  const fourhold::BuildInfo build = fourhold::build_info();
  return fmt::format("fourhold {} ({}, {}, {})\n", build.version, build.commit, build.compiler,
                     build.build_type);
}

// A line behind its label, without control characters of foreign files: wrapped where standard
// error is a terminal; whole elsewhere, so that it can be searched.
std::string labelled(std::string_view label, const std::string& line) {
  const std::optional<int> columns = cli::columns_of_notes();
  return columns ? report::wrapped(line, *columns, label)
                 : std::string(label) + report::printable(line) + "\n";
}

// "fourhold: where: what" and the hint.
std::string error_text(const Error& error) {
  const std::string where = error.where().empty() ? "" : error.where() + ": ";
  std::string text = labelled("fourhold: ", where + error.what());
  if (!error.hint().empty()) text += labelled("hint: ", error.hint());
  return text;
}

ExitCode run_verb(const api::Verb& verb, const std::vector<std::string>& words) {
  const cli::ParsedVerb parsed = cli::parse_verb(verb, words);
  const report::Screen screen = cli::screen_of_output(parsed.color);
  if (parsed.help) {
    cli::write_output(api::help_text(verb, screen));
    return ExitCode::done;
  }
  if (verb.name == "plan") cli::prepare_heap();  // a search holds megabytes, a question does not
  const api::Output output = [&] {
    cli::ProgressLine progress;
    return verb.run(parsed.arguments, parsed.form, screen, progress.function());
  }();
  for (const api::Output::File& file : output.files) cli::write_file(file.path, file.content);
  cli::write_output(output.text);
  for (const std::string& note : output.notes) {
    cli::write_note(labelled("note: ", note));
  }
  return output.exit_code;
}

ExitCode run(const std::vector<std::string>& words) {
  if (words.empty()) {
    cli::write_note(api::overview_text(cli::screen_of_output(cli::ColorWhen::never)));
    return ExitCode::bad_input;  // nothing was asked
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    if (words.size() > 1 && first == "help") {
      return run_verb(api::verb_named(words[1]), {"--help"});
    }
    cli::write_output(api::overview_text(cli::screen_of_output(cli::ColorWhen::automatic)));
    return ExitCode::done;
  }
  if (first == "--version") {
    cli::write_output(version_text());
    return ExitCode::done;
  }
  if (!first.empty() && first.front() == '-') {
    throw Error(first, "stands before the command",
                "write `fourhold COMMAND` first, its options behind it");
  }
  return run_verb(api::verb_named(first), {words.begin() + 1, words.end()});
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // only standard output ends by it: write_output
  try {
    return static_cast<int>(run({argv + 1, argv + argc}));
  } catch (const Error& error) {
    cli::write_note(error_text(error));
    return static_cast<int>(error.exit_code());
  } catch (const std::bad_alloc&) {
    cli::write_note("fourhold: not enough memory for this question\n");
  } catch (const std::exception& fault) {
    cli::write_note(std::string("fourhold: a fault of ours: ") + fault.what() + "\n");
  }
  return static_cast<int>(ExitCode::internal_error);
}

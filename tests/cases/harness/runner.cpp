#include "tests/cases/harness/runner.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fourhold/base/error.h"
#include "tests/cases/harness/check_json.h"
#include "tests/cases/harness/check_text.h"
#include "tests/cases/harness/process.h"

namespace fourhold::cases {
namespace {

class WorkingFolder {
 public:
  WorkingFolder() {
    path_ = (std::filesystem::temp_directory_path() / "fourhold-case-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw Error(path_, "cannot create a temporary folder");
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() {
    std::error_code ignored;  // a leftover folder is no reason to fail
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Runner {
 public:
  Runner(const CaseFile& file, const std::string& program, const std::string& source)
      : file_(file), program_(program), source_(source) {}

  Result run() {
    for (const InputFile& input : file_.files) {
      std::ofstream(folder_.path() + "/" + input.name, std::ios::binary) << input.text;
    }
    for (const Run& one : file_.runs) run_one(one);
    return std::move(result_);
  }

 private:
  void run_one(const Run& run) {
    Command command{.program = program_,
                    .arguments = {},
                    .folder = folder_.path(),
                    .environment = run.environment};
    for (const std::string& argument : run.arguments) {
      command.arguments.push_back(with_source(argument));
    }
    const Outcome plain = run_process(command);
    const bool wants_json = !run.name.empty() ||
                            std::any_of(run.checks.begin(), run.checks.end(),
                                        [](const Check& c) { return c.kind == Check::Kind::json; });
    const bool states_exit = std::any_of(run.checks.begin(), run.checks.end(), [](const Check& c) {
      return c.kind == Check::Kind::exit;
    });
    if (!states_exit) record(run.line, "exit: 0", check_exit({{.text = "0"}}, plain));
    const bool parsed = !wants_json || run_json(run, command, plain);
    for (const Check& check : run.checks) {
      if (check.kind == Check::Kind::json && !parsed) continue;  // said once already
      const std::string found = decide(check, plain);
      if (check.shortfall.empty()) {
        record(check.line, check.text, found);
      } else {
        record_shortfall(check, found);
      }
    }
    if (!run.name.empty() && parsed) documents_[run.name] = documents_[""];
  }

  // Leaves the document under ""; false when there is none.
  bool run_json(const Run& run, Command command, const Outcome& plain) {
    const auto& given = run.arguments;
    Outcome outcome = plain;
    if (std::find(given.begin(), given.end(), "--json") == given.end()) {
      command.arguments.emplace_back("--json");
      outcome = run_process(command);
      record(run.line, "the same exit code with --json",
             check_exit({{.text = std::to_string(plain.exit_code)}}, outcome));
    }
    try {
      documents_[""] = json::parse(outcome.out, "stdout");
      return true;
    } catch (const Error& error) {
      record(run.line, "JSON on stdout",
             error.where() + ": " + error.what() + "; on stderr: " + outcome.err);
      return false;
    }
  }

  std::string decide(const Check& check, const Outcome& outcome) {
    try {
      switch (check.kind) {
        case Check::Kind::exit:
          return check_exit(check.words, outcome);
        case Check::Kind::json:
          return check_json(check.words, documents_);
        case Check::Kind::text:
          return check_text(check.words, outcome, folder_.path());
        case Check::Kind::columns:
          return check_columns(check.words, outcome);
      }
      return "an unknown kind of check";
    } catch (const Error& error) {
      throw error.inside(file_.path + ":" + std::to_string(check.line));
    }
  }

  void record(std::int64_t line, const std::string& check, const std::string& found) {
    ++result_.checks;
    if (found.empty()) return;
    result_.failures.push_back(file_.path + ":" + std::to_string(line) + ": " + check + ": " +
                               found);
  }

  // A check known to fail is still made: once it holds, the case must say so.
  void record_shortfall(const Check& check, const std::string& found) {
    const bool holds = found.empty();
    record(check.line, check.text, holds ? "holds now: take its shortfall line away" : "");
    if (holds) return;
    result_.shortfalls.push_back(file_.path + ":" + std::to_string(check.line) + ": " + check.text +
                                 ": " + found + ";" + check.shortfall);
  }

  std::string with_source(std::string argument) const {
    constexpr std::string_view kVariable = "${source}";
    const std::size_t at = argument.find(kVariable);
    if (at != std::string::npos) argument.replace(at, kVariable.size(), source_);
    return argument;
  }

  const CaseFile& file_;
  const std::string& program_;
  const std::string& source_;
  WorkingFolder folder_;
  Documents documents_;
  Result result_;
};

}  // namespace

Result run_case(const CaseFile& file, const std::string& program, const std::string& source) {
  return Runner(file, program, source).run();
}

}  // namespace fourhold::cases

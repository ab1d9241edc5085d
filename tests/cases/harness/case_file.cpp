#include "tests/cases/harness/case_file.h"

#include <sstream>

#include "fourhold/base/error.h"

namespace fourhold::cases {
namespace {

class Parser {
 public:
  Parser(const std::string& path, std::string_view text) : in_(std::string(text)) {
    case_.path = path;
  }

  CaseFile parse() {
    for (std::string line; next(line);) {
      try {
        parse_line(line);
      } catch (const Error& error) {
        throw error.inside(case_.path + ":" + std::to_string(line_));
      }
    }
    if (case_.runs.empty()) throw Error(case_.path, "no 'run:' line", "add one");
    if (!sourced_) {
      throw Error(case_.path, "no source", "add a line '# Source: where the numbers come from'");
    }
    finish_run();
    return std::move(case_);
  }

 private:
  bool next(std::string& line) {
    if (!std::getline(in_, line)) return false;
    ++line_;
    return true;
  }

  void parse_line(const std::string& line) {
    if (line.starts_with("# Source:")) sourced_ = true;
    if (line.empty() || line[0] == '#') return;
    constexpr std::string_view kShortfall = "shortfall:";
    if (line.starts_with(kShortfall)) {
      mark_shortfall(line.substr(kShortfall.size()));
      return;
    }
    std::vector<Word> words = split_words(line);
    if (words.empty()) return;
    const std::string keyword = words.front().text;
    words.erase(words.begin());
    if (keyword == "file:") {
      parse_file(words);
    } else if (keyword == "run:") {
      start_run(words);
    } else if (keyword == "name:" && words.size() == 1) {
      run().name = words[0].text;
    } else if (keyword == "env:" && words.size() == 1) {
      const std::size_t equals = words[0].text.find('=');
      if (equals == std::string::npos) throw Error("env", "no '='", "write env: NAME=VALUE");
      run().environment.emplace_back(words[0].text.substr(0, equals),
                                     words[0].text.substr(equals + 1));
    } else if (keyword == "exit:" && words.size() == 1) {
      add(Check::Kind::exit, line, words);
    } else if (keyword == "json:" && words.size() >= 2) {
      add(Check::Kind::json, line, words);
    } else if (keyword == "columns" && words.size() == 2) {
      add(Check::Kind::columns, line, words);
    } else if (keyword == "stdout" || keyword == "stderr" || keyword == "wrote") {
      words.insert(words.begin(), Word{.text = keyword});
      add(Check::Kind::text, line, words);
    } else {
      throw Error("", "not a line of a case file: " + line, "see tests/cases/README.md");
    }
  }

  // Everything up to a line that is 'end'.
  void parse_file(const std::vector<Word>& words) {
    if (words.size() != 1 || words[0].text.find('/') != std::string::npos) {
      throw Error("file", "one plain file name is expected", "write file: NAME");
    }
    InputFile file{.name = words[0].text, .text = {}};
    const std::int64_t start = line_;
    for (std::string line; next(line);) {
      if (line == "end") {
        case_.files.push_back(std::move(file));
        return;
      }
      file.text += line + "\n";
    }
    line_ = start;  // where the fault is, not where the file ran out
    throw Error("file", "'" + file.name + "' has no end", "close it with a line 'end'");
  }

  void start_run(const std::vector<Word>& words) {
    finish_run();
    case_.runs.emplace_back();
    run().line = line_;
    for (const Word& word : words) run().arguments.push_back(word.text);
  }

  // A run that expects nothing would pass whatever happens.
  void finish_run() {
    if (case_.runs.empty() || !run().checks.empty()) return;
    throw Error(case_.path + ":" + std::to_string(run().line), "this run checks nothing",
                "add 'exit:', 'json:' or 'stdout' lines below it");
  }

  void add(Check::Kind kind, const std::string& line, const std::vector<Word>& words) {
    run().checks.push_back({.kind = kind, .line = line_, .text = line, .words = words});
  }

  // The check above is known to fail; the line says why.
  void mark_shortfall(const std::string& why) {
    if (run().checks.empty()) throw Error("shortfall", "no check above it", "write it below one");
    if (why.find_first_not_of(' ') == std::string::npos) {
      throw Error("shortfall", "no reason", "say why the check above does not hold");
    }
    run().checks.back().shortfall = why;
  }

  Run& run() {
    if (case_.runs.empty()) throw Error("", "a check before the first run", "move it below 'run:'");
    return case_.runs.back();
  }

  std::istringstream in_;
  std::int64_t line_ = 0;
  bool sourced_ = false;
  CaseFile case_;
};

}  // namespace

CaseFile parse_case_file(const std::string& path, std::string_view text) {
  return Parser(path, text).parse();
}

}  // namespace fourhold::cases

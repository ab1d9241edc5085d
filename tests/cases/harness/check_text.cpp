#include "tests/cases/harness/check_text.h"

#include <algorithm>
#include <sstream>

#include "fourhold/base/error.h"
#include "tests/cases/harness/expression.h"

namespace fourhold::cases {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string shown(const std::string& text) {
  constexpr std::size_t kLongest = 2000;
  if (text.empty()) return "actual: nothing";
  return "actual:\n" + text.substr(0, kLongest) + (text.size() > kLongest ? " ..." : "");
}

std::size_t whole_number(const Word& word) {
  const auto number = parse_number(word.text);
  if (!number || *number < 0) throw Error("", "'" + word.text + "' is no count");
  return static_cast<std::size_t>(*number);
}

// Characters as a terminal counts them: bytes that continue a UTF-8 sequence take no column.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string check_text(const std::vector<Word>& words, const Outcome& outcome,
                       const std::string& folder) {
  auto word = words.begin();
  const auto take = [&]() -> const Word& {
    if (word == words.end()) {
      throw Error("", "the line ends too early",
                  "stdout|stderr|wrote NAME [line N] contains|lacks \"text\", or: is empty");
    }
    return *word++;
  };
  const std::string subject = take().text;
  std::string text = subject == "stderr" ? outcome.err : outcome.out;
  if (subject == "wrote") {
    const std::string path = folder + "/" + take().text;
    try {
      text = read_file(path);
    } catch (const Error&) {
      return "it was not written";
    }
  }
  std::string op = take().text;
  if (op == "line") {
    const std::size_t number = whole_number(take());
    const std::vector<std::string> lines = lines_of(text);
    if (number == 0 || number > lines.size()) {
      return "there are " + std::to_string(lines.size()) + " lines";
    }
    text = lines[number - 1];
    op = take().text;
  }
  bool holds = false;
  if (op == "contains" || op == "lacks") {
    holds = (text.find(take().text) != std::string::npos) == (op == "contains");
  } else if (op == "is" && take().text == "empty") {
    holds = text.empty();
  } else {
    throw Error("", "'" + op + "' is no check of text", "use contains, lacks, or: is empty");
  }
  if (word != words.end()) throw Error("", "'" + word->text + "' is left over", "quote the text");
  return holds ? std::string() : shown(text);
}

std::string check_columns(const std::vector<Word>& words, const Outcome& outcome) {
  if (words[0].text != "<=") throw Error("columns", "only <= is known", "write columns <= 80");
  const std::size_t limit = whole_number(words[1]);
  for (const std::string& line : lines_of(outcome.out)) {
    if (columns(line) > limit) return std::to_string(columns(line)) + " columns: " + line;
  }
  return {};
}

std::string check_exit(const std::vector<Word>& words, const Outcome& outcome) {
  if (whole_number(words[0]) == static_cast<std::size_t>(outcome.exit_code)) return {};
  return "actual exit code " + std::to_string(outcome.exit_code) + "; on stderr: " + outcome.err;
}

}  // namespace fourhold::cases

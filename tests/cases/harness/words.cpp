#include "tests/cases/harness/words.h"

#include "fourhold/base/error.h"

namespace fourhold::cases {

std::vector<Word> split_words(std::string_view line) {
  std::vector<Word> words;
  bool inside = false;  // a word has begun
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      inside = false;
      continue;
    }
    if (!inside) {
      words.emplace_back();
      inside = true;
    }
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      words.back().quoted = true;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else {
      if (quote == '"' && c == '\\' && i + 1 < line.size()) {
        c = line[++i] == 'n' ? '\n' : line[i];
      }
      words.back().text.push_back(c);
    }
  }
  if (quote != 0) {
    throw Error("", std::string("a quote ") + quote + " is never closed", "close it on this line");
  }
  return words;
}

}  // namespace fourhold::cases

// Splitting a line into words, in the way of a shell: quotes group, nothing is expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fourhold::cases {

struct Word {
  std::string text;
  bool quoted =
      false;  // some part of it stood in quotes: then it is text, never a number or a path
};

// "a 'b c' \"d\\\"e\"" gives a, [b c], [d"e]. In double quotes a backslash takes the next character
// literally, with \n for a line break. Throws Error on a quote that is never closed.
[[nodiscard]] std::vector<Word> split_words(std::string_view line);

}  // namespace fourhold::cases

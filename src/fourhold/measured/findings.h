// What a row does not say: what is missing for good, and what was taken instead of a blank.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace fourhold::measured {

struct Findings {
  std::vector<std::string> missing;  // without these the row is skipped
  std::vector<std::string> refused;  // so it is with these: unknown words, impossible figures
  std::vector<std::string> assumed;  // as sentences

  void lacks(std::string fact) { add(missing, std::move(fact)); }
  void knows_not(std::string_view word, std::string_view column) {
    add(refused, fmt::format("unknown word '{:.60}' in {}", word, column));
  }
  void contradicts(std::string sentence) { add(refused, std::move(sentence)); }
  void assumes(std::string sentence) { add(assumed, std::move(sentence)); }

  [[nodiscard]] bool complete() const { return missing.empty() && refused.empty(); }

  // "unknown word 'zero9' in sharding; layers, hidden and heads are not published"
  [[nodiscard]] std::string missing_text() const {
    std::string text = fmt::format("{}", fmt::join(refused, "; "));
    if (missing.empty()) return text;
    if (!text.empty()) text += "; ";
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (i > 0) text += i + 1 == missing.size() ? " and " : ", ";
      text += missing[i];
    }
    return text + (missing.size() == 1 ? " is not published" : " are not published");
  }

 private:
  static void add(std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  }
};

}  // namespace fourhold::measured

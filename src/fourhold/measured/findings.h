// What a row does not say: what is missing for good, and what was taken instead of a blank.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace fourhold::measured {

struct Findings {
  std::vector<std::string> missing;  // without these the row is skipped
  std::vector<std::string> assumed;  // as sentences

  void lacks(std::string fact) { add(missing, std::move(fact)); }
  void assumes(std::string sentence) { add(assumed, std::move(sentence)); }

  // "layers, hidden and heads are not published"
  [[nodiscard]] std::string missing_text() const {
    std::string text;
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

#include "fourhold/engine/launch/option_words.h"

#include <utility>

namespace fourhold::engine {

void set_option(std::vector<std::string>& words, std::string_view flag, std::string value) {
  std::vector<std::string> kept;
  const std::string joined = std::string(flag) + "=";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag) {
      ++i;  // and its value
    } else if (words[i].rfind(joined, 0) != 0) {
      kept.push_back(std::move(words[i]));
    }
  }
  kept.emplace_back(flag);
  kept.push_back(std::move(value));
  words = std::move(kept);
}

}  // namespace fourhold::engine

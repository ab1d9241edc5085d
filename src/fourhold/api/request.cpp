#include "fourhold/api/request.h"

#include <algorithm>

#include <fmt/format.h>

namespace fourhold::api {

void refuse_repetition(const Arguments& arguments, const std::vector<std::string>& repeating) {
  const auto& options = arguments.options;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (std::find(repeating.begin(), repeating.end(), options[i].flag) != repeating.end()) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (options[i].flag != options[j].flag) continue;
      throw Error(
          options[i].flag,
          fmt::format("is given twice: '{:.40}' and '{:.40}'", options[j].text, options[i].text),
          "give it once");
    }
  }
}

std::vector<std::string> repeating(const std::vector<OptionInfo>& options) {
  std::vector<std::string> flags;
  for (const OptionInfo& option : options) {
    if (option.repeats) flags.push_back(option.flag);
  }
  return flags;
}

void refuse_operand(const std::string& operand, std::size_t most) {
  throw Error(fmt::format("'{:.60}'", operand),
              most == 0 ? "nothing is expected here" : "is one word too many",
              "`--help` shows what the command takes");
}

}  // namespace fourhold::api

#include "fourhold/api/request.h"

#include <fmt/format.h>

namespace fourhold::api {

void refuse_repetition(const Arguments& arguments) {
  const auto& options = arguments.options;
  for (std::size_t i = 0; i < options.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (options[i].flag != options[j].flag) continue;
      throw Error(
          options[i].flag,
          fmt::format("is given twice: '{:.40}' and '{:.40}'", options[j].text, options[i].text),
          "give it once");
    }
  }
}

void refuse_operand(const std::string& operand, std::size_t most) {
  throw Error(fmt::format("'{:.60}'", operand),
              most == 0 ? "nothing is expected here" : "is one word too many",
              "`--help` shows what the command takes");
}

}  // namespace fourhold::api

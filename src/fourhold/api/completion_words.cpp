#include "fourhold/api/completion_words.h"

#include <utility>

#include "fourhold/hardware/catalogue.h"
#include "fourhold/model/catalogue.h"
#include "fourhold/plan/profile.h"

namespace fourhold::api {

std::vector<OptionInfo> flags_of(const Verb& verb) {
  std::vector<OptionInfo> flags;
  for (OptionInfo& option : verb.options()) {
    if (option.group != OptionGroup::operand) flags.push_back(std::move(option));
  }
  for (OptionInfo& option : common_options()) flags.push_back(std::move(option));
  return flags;
}

std::vector<OptionInfo> operands_of(const Verb& verb) {
  std::vector<OptionInfo> operands;
  for (OptionInfo& option : verb.options()) {
    if (option.group == OptionGroup::operand) operands.push_back(std::move(option));
  }
  return operands;
}

std::vector<std::string> words_of(const OptionInfo& option) {
  switch (option.kind) {
    case ValueKind::device:
      return hardware::device_names();
    case ValueKind::profile:
      return plan::profile_names();
    case ValueKind::model: {
      const std::vector<std::string_view> names = model::catalogue_names();
      return {names.begin(), names.end()};
    }
    case ValueKind::choice:
      if (option.name == "shell") return {"bash", "zsh", "fish"};
      return {option.choices.begin(), option.choices.end()};
    default:
      break;
  }
  if (option.name == "recompute") return {"none", "selective", "full"};
  return {};
}

bool takes_file(const OptionInfo& option) {
  return option.kind == ValueKind::file || option.kind == ValueKind::model ||
         option.kind == ValueKind::device || option.kind == ValueKind::profile;
}

}  // namespace fourhold::api

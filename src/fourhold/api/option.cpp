#include "fourhold/api/option.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "fourhold/plan/legal_values.h"

namespace fourhold::api {
namespace {

std::string_view value_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::number:
      return "N";
    case ValueKind::size:
      return "SIZE";
    case ValueKind::choice:
    case ValueKind::profile:
      return "NAME";
    case ValueKind::model:
      return "MODEL";
    case ValueKind::device:
      return "DEVICE";
    case ValueKind::file:
      return "FILE";
    case ValueKind::flag:
      return "";
    case ValueKind::text:
      break;
  }
  return "VALUE";
}

std::string capitals(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::string flag_of(std::string_view name) {
  std::string flag = (name.size() == 1 ? "-" : "--") + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

OptionInfo info_of(const Option& option, std::vector<std::string_view> choices) {
  OptionInfo info;
  info.name = option.field.name;
  info.group = option.group;
  info.kind = option.kind;
  if (option.group == OptionGroup::operand) {
    info.flag = option.alias.empty() ? capitals(info.name) : std::string(option.alias);
  } else {
    info.flag = flag_of(info.name);
    if (!option.alias.empty()) info.alias = flag_of(option.alias);
  }
  info.value = value_name(option.kind);
  info.help = option.field.help;
  const bool is_switch = choices.size() == 2 && choices[0] == "on";
  if (is_switch) info.value = "on|off";
  if (!choices.empty() && !is_switch) info.help += ": " + plan::list_text(choices);
  info.choices = std::move(choices);
  return info;
}

}  // namespace fourhold::api

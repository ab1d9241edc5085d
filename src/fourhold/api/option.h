// What is known of one option of a verb. Every request struct lists its options once
// (visit_options); flags, JSON, help, the manual page and completion all come from that list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/plan/field_info.h"

namespace fourhold::api {

enum class OptionGroup : std::uint8_t {
  operand,   // stands without a flag: MODEL, A, B
  question,  // of the verb itself
  run,       // the whole run: tokens, deadline, price, speed
  device,
  plan,
  output,
};

// What the value is, for completion and for its name in help.
// `flag` stands alone.
enum class ValueKind : std::uint8_t {
  text,
  number,
  size,
  choice,
  model,
  device,
  profile,
  file,
  flag,
};

struct Option {
  plan::FieldInfo field;  // name in JSON; the flag writes '-' for '_'
  OptionGroup group = OptionGroup::question;
  ValueKind kind = ValueKind::text;
  // A second spelling of the name, or ""; of an operand what it is called instead.
  std::string_view alias = {};
};

// An option without its field: for parsers and for texts.
struct OptionInfo {
  std::string name;   // "micro_batch"
  std::string flag;   // "--micro-batch"; of an operand its alias, or its name in capitals
  std::string alias;  // "--batch", or ""
  std::string value;  // "N", "SIZE", "NAME" ...; "" of one that stands alone
  std::string help;
  OptionGroup group = OptionGroup::question;
  ValueKind kind = ValueKind::text;
  std::vector<std::string_view> choices;  // all values there are, or empty
  bool repeats = false;                   // may stand several times
};

// "--micro-batch" for "micro_batch", "-o" for "o".
[[nodiscard]] std::string flag_of(std::string_view name);

// The facts of an option whose values are `choices`, if it has a closed set of them.
[[nodiscard]] OptionInfo info_of(const Option& option, std::vector<std::string_view> choices);

}  // namespace fourhold::api

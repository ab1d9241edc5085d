// What can be completed behind an option or as an operand, shared by the shells.
#pragma once

#include <string>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/api/verbs.h"

namespace fourhold::api {

// The options of a verb with the common ones, operands left out.
[[nodiscard]] std::vector<OptionInfo> flags_of(const Verb& verb);
// Its operands.
[[nodiscard]] std::vector<OptionInfo> operands_of(const Verb& verb);

// Names that may stand as the value: choices, devices, profiles, models; empty where any text or a
// file may.
[[nodiscard]] std::vector<std::string> words_of(const OptionInfo& option);

// Whether a file may stand there too.
[[nodiscard]] bool takes_file(const OptionInfo& option);

}  // namespace fourhold::api

// Help texts, from the table of verbs.
#pragma once

#include <string>

#include "fourhold/api/verbs.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

// What the program is, and its commands.
[[nodiscard]] std::string overview_text(const report::Screen& screen);

// One command: what it answers, examples, and its options in groups.
[[nodiscard]] std::string help_text(const Verb& verb, const report::Screen& screen);

// "fourhold fit MODEL [options]".
[[nodiscard]] std::string usage_text(const Verb& verb);

// The heading of a group of options, in the order in which groups are listed.
[[nodiscard]] std::string_view heading(OptionGroup group);
inline constexpr OptionGroup kListedGroups[] = {OptionGroup::question, OptionGroup::run,
                                                OptionGroup::device, OptionGroup::plan,
                                                OptionGroup::output};

}  // namespace fourhold::api

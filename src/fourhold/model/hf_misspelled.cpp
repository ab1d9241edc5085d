#include "fourhold/model/hf_misspelled.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/near_match.h"

namespace fourhold::model {

void note_misspelled(Reading& reading) {
  const std::vector<std::string> absent = reading.fields.absent();
  const std::vector<std::string_view> wanted(absent.begin(), absent.end());
  for (const auto& [name, value] : reading.fields.unread_members()) {
    // What decides a count is a number or a flag.
    if (!value.is_number() && !value.is_boolean()) continue;
    const std::string meant = likely_meant(name, wanted);
    if (meant.empty()) continue;
    note(reading, fmt::format("{} is no field of this model type and is not read: is it meant to "
                              "be {}, which is absent?",
                              reading.fields.path(name), meant));
  }
}

std::string missing_hint(const Reading& reading, Aliases names, const std::string& otherwise) {
  const std::vector<std::string_view> wanted(names.begin(), names.end());
  for (const std::string& name : reading.fields.unread()) {
    const std::string meant = likely_meant(name, wanted);
    if (meant.empty()) continue;
    return fmt::format("{:.60} may be meant to be {}; otherwise {}", name, meant, otherwise);
  }
  return otherwise;
}

}  // namespace fourhold::model

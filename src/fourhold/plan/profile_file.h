// Profile files: JSON, the built-in ones and the user's alike.
//
// The fields are those of profile_fields.h. `name`, `zero_stages` and `splits` are required; every
// other absent field is as in the profile `standard`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fourhold/base/embedded.h"
#include "fourhold/base/json.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {

// The files of data/profiles, sorted by name.
[[nodiscard]] std::span<const EmbeddedFile> embedded_profiles();

// Reads one profile from the text of a file. Error with the field's name for any fault; an unknown
// field is a fault. `where` names the file in Errors.
[[nodiscard]] Profile parse_profile(std::string_view text, const std::string& where);

// The file's content for a profile: parse_profile(write(profile_json(p))) gives p back.
[[nodiscard]] json::Value profile_json(const Profile& profile);

}  // namespace fourhold::plan

// `fourhold profiles`: which bytes each framework holds, and where that is from.
#pragma once

#include <string>
#include <vector>

#include "fourhold/api/option.h"
#include "fourhold/base/json.h"
#include "fourhold/plan/profile.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct ProfilesRequest {
  std::string profile;  // "" lists all
};

template <class Visitor>
void visit_options(Visitor&& visit, ProfilesRequest& request) {
  visit(Option{{"profile", "one profile by name or file, with every field and its sources"},
               OptionGroup::operand,
               ValueKind::profile},
        request.profile);
}

struct ProfilesResult {
  std::vector<plan::Profile> profiles;  // by name
};

[[nodiscard]] ProfilesResult profiles(const ProfilesRequest& request);

[[nodiscard]] json::Value to_json(const ProfilesResult& result);
[[nodiscard]] std::string to_text(const ProfilesResult& result, const report::Screen& screen);

}  // namespace fourhold::api

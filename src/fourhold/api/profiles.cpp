#include "fourhold/api/profiles.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/plan/field_value.h"
#include "fourhold/plan/profile_fields.h"
#include "fourhold/plan/profile_file.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

using plan::Profile;

// By name, or by what is missing where that is shorter.
std::string splits_text(const Profile& profile) {
  if (profile.splits.empty()) return "none";
  std::vector<std::string_view> missing;
  for (const std::string_view split : plan::kSplitNames) {
    if (!profile.can(split)) missing.push_back(split);
  }
  if (missing.empty()) return "all";
  std::string named = fmt::format("{}", fmt::join(profile.splits, " "));
  std::string others = fmt::format("all but {}", fmt::join(missing, " "));
  return others.size() < named.size() ? others : named;
}

std::string list_text(const ProfilesResult& result, const report::Screen& screen) {
  report::Table table({{"name"}, {"ZeRO"}, {"splits"}, {"start-up"}});
  for (const Profile& profile : result.profiles) {
    table.add({profile.name, fmt::format("{}", fmt::join(profile.zero_stages, " ")),
               splits_text(profile),
               std::string(plan::kStartupNames[static_cast<std::size_t>(profile.startup)])});
  }
  std::string text =
      fmt::format("{} built-in profiles; a profile file works too.\n", result.profiles.size());
  text += "A profile says which bytes a framework holds for the same mathematics.\n";
  text += "`fourhold profiles NAME` shows one with its sources.\n\n";
  text += table.text(screen);
  for (const Profile& profile : result.profiles) {
    text += "\n" + report::wrapped(profile.name + ": " + profile.summary, screen.columns);
  }
  return text;
}

std::string profile_text(const Profile& profile, const report::Screen& screen) {
  std::string text = report::wrapped(profile.name + ": " + profile.summary, screen.columns) + "\n";
  report::Table table({{"field"},
                       {"value", report::Align::left, report::WhenTight::wrap},
                       {"what it says", report::Align::left, report::WhenTight::wrap}});
  plan::visit_profile_fields(
      [&table](const plan::FieldInfo& info, const auto& value) {
        if (info.name == "name" || info.name == "summary" || info.name == "sources") return;
        const json::Value field = plan::field_json(value);
        if (field.is_string() && field.string().empty()) return;
        std::string shown =
            field.is_string() ? field.string() : json::write(field, json::Layout::one_line);
        if (info.name == "startup_note") {
          table.add({std::string(info.name), "", std::move(shown)});
        } else {
          table.add({std::string(info.name), std::move(shown), std::string(info.help)});
        }
      },
      profile);
  text += table.text(screen) + "\n";
  for (const std::string& source : profile.sources) {
    text += report::wrapped(source, screen.columns, "Source  ");
  }
  return text;
}

}  // namespace

ProfilesResult profiles(const ProfilesRequest& request) {
  ProfilesResult result;
  if (!request.profile.empty()) {
    result.profiles.push_back(plan::load_profile(request.profile));
    return result;
  }
  for (const std::string& name : plan::profile_names()) {
    result.profiles.push_back(plan::load_profile(name));
  }
  return result;
}

json::Value to_json(const ProfilesResult& result) {
  json::Array profiles;
  for (const Profile& profile : result.profiles) profiles.push_back(plan::profile_json(profile));
  return json::Object{{"schema", "fourhold.profiles/1"}, {"profiles", std::move(profiles)}};
}

std::string to_text(const ProfilesResult& result, const report::Screen& screen) {
  if (result.profiles.size() == 1) return profile_text(result.profiles.front(), screen);
  return list_text(result, screen);
}

}  // namespace fourhold::api

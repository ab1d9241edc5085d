#include "fourhold/plan/profile_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/text_file.h"
#include "fourhold/plan/field_value.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/profile_fields.h"

namespace fourhold::plan {
namespace {

constexpr std::int64_t kMaxFileBytes = 1 << 20;

void check_name(const Profile& profile) {
  if (profile.name.empty()) throw Error("name", "is missing", "give the profile a name");
}

void check_zero_stages(const Profile& profile) {
  const std::vector<int>& stages = profile.zero_stages;
  if (stages.empty()) {
    throw Error("zero_stages", "is missing or empty", "list the stages, for example [0, 1]");
  }
  const bool ascending = std::adjacent_find(stages.begin(), stages.end(),
                                            [](int a, int b) { return a >= b; }) == stages.end();
  if (!ascending) {
    throw Error("zero_stages", "must be ascending, without repetition", "for example [0, 1]");
  }
}

void check_splits(const Profile& profile) {
  for (std::size_t i = 0; i < profile.splits.size(); ++i) {
    const std::string path = fmt::format("splits[{}]", i);
    const std::string& split = profile.splits[i];
    static_cast<void>(index_of_name(split, path, kSplitNames));
    const auto before = profile.splits.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(profile.splits.begin(), before, split) != before) {
      throw Error(path, fmt::format("'{}' is named twice", split), "name it once");
    }
  }
}

// Ids and indices are integers of 4 or 8 bytes.
void check_index(const Profile& profile) {
  const DType index = profile.switches.index;
  if (index != DType::int32 && index != DType::int64) {
    throw Error("index", fmt::format("is {}", to_string(index)), "use int32 or int64");
  }
}

Profile read_profile(FieldReader& reader) {
  if (!reader.has("splits")) {
    throw Error("splits", "is missing", "list what it can split, or [] for nothing");
  }
  Profile profile;
  visit_profile_fields(
      [&reader](const FieldInfo& info, auto& field) {
        if (const json::Value* found = reader.value(info.name)) {
          read_field(*found, reader.path(info.name), info, field);
        }
      },
      profile);
  reader.refuse_unread();
  check_name(profile);
  check_zero_stages(profile);
  check_splits(profile);
  check_index(profile);
  return profile;
}

bool is_path(const std::string& text) { return text.find_first_of("/.") != std::string::npos; }

}  // namespace

bool Profile::can(std::string_view split) const {
  return std::find(splits.begin(), splits.end(), split) != splits.end();
}

Profile parse_profile(std::string_view text, const std::string& where) {
  const json::Value document = json::parse(text, where);
  try {
    FieldReader reader(document_or_sole(document, "profiles"), "");
    return read_profile(reader);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

json::Value profile_json(const Profile& profile) {
  json::Object out;
  visit_profile_fields(
      [&out](const FieldInfo& info, const auto& value) {
        out.emplace_back(info.name, field_json(value));
      },
      profile);
  return out;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_profiles()) names.emplace_back(file.name);
  return names;
}

Profile load_profile(const std::string& name_or_path) {
  std::vector<std::string_view> known;
  for (const EmbeddedFile& file : embedded_profiles()) {
    if (file.name == name_or_path) return parse_profile(file.text, name_or_path);
    known.push_back(file.name);
  }
  if (is_path(name_or_path)) {
    return parse_profile(read_text_file(name_or_path, kMaxFileBytes), name_or_path);
  }
  const std::string near = did_you_mean(name_or_path, known);
  throw Error("profile", fmt::format("'{:.60}' is not a profile", name_or_path),
              fmt::format("{}{}the built-in ones are {}; a file needs a '/' or '.' in its name",
                          near, near.empty() ? "" : " ", list_text(known)));
}

}  // namespace fourhold::plan

// The completeness marker: the last file of a checkpoint, which lists all others with their sums.
// A folder without it is no checkpoint, whatever else it holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/checkpoint/file_sum.h"

namespace fourhold::engine {

inline constexpr std::string_view kMarkerName = "complete.json";

struct Marker {
  std::int64_t step = 0;
  std::vector<FileSum> files;
  friend bool operator==(const Marker&, const Marker&) = default;
};

// "fourhold.checkpoint/1".
[[nodiscard]] std::string write_marker(const Marker& marker);
// Error naming line or field for anything else: another schema, a name that is no plain file name,
// a file listed twice, a number of sums that is not that of its blocks.
[[nodiscard]] Marker parse_marker(std::string_view text, const std::string& where);

// One file of it.
[[nodiscard]] json::Object to_json(const FileSum& file);
[[nodiscard]] FileSum read_file_sum(FieldReader fields);

}  // namespace fourhold::engine

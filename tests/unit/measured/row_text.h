// Rows as text: a header in the order of the schema, and one row of named values.
#pragma once

#include <map>
#include <string>

#include "fourhold/measured/measured_row.h"

namespace fourhold::measured {

inline std::string header_text() {
  std::string text;
  const MeasuredRow row;
  visit_columns(
      [&text](std::string_view name, const auto& /*field*/) {
        text += (text.empty() ? "" : ",") + std::string(name);
      },
      row);
  return text;
}

// Values that hold commas must be quoted by the caller.
inline std::string row_text(const std::map<std::string, std::string>& values) {
  std::string text;
  bool first = true;
  const MeasuredRow row;
  visit_columns(
      [&](std::string_view name, const auto& /*field*/) {
        if (!first) text += ',';
        first = false;
        const auto found = values.find(std::string(name));
        if (found != values.end()) text += found->second;
      },
      row);
  return text;
}

}  // namespace fourhold::measured

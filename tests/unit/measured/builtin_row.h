// A published row that ships with the program, by its id.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "fourhold/measured/row_files.h"

namespace fourhold::measured {

// Throws std::out_of_range for an id that no row has.
inline const MeasuredRow& builtin_row(const std::string& id) {
  static const std::map<std::string, MeasuredRow> rows = [] {
    std::map<std::string, MeasuredRow> by_id;
    for (MeasuredRow& row : builtin_rows()) by_id.emplace(row.id, std::move(row));
    return by_id;
  }();
  return rows.at(id);
}

}  // namespace fourhold::measured

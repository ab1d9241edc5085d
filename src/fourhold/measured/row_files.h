// Where rows come from: those that ship with the program, and files of the same columns.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fourhold/base/embedded.h"
#include "fourhold/measured/measured_row.h"

namespace fourhold::measured {

// data/measured/*.csv, sorted by name; a generated source defines it.
[[nodiscard]] std::span<const EmbeddedFile> embedded_rows();
// Their rows.
[[nodiscard]] std::vector<MeasuredRow> builtin_rows();

// The rows of a file. Throws Error for a file that cannot be read or is larger than 256 MiB, and as
// parse_rows.
[[nodiscard]] std::vector<MeasuredRow> read_row_file(const std::string& path);

}  // namespace fourhold::measured

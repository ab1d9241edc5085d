// The published rows that ship with the program.
#pragma once

#include <span>

#include "fourhold/base/embedded.h"

namespace fourhold::measured {

// data/measured/*.csv, sorted by name; a generated source defines it.
[[nodiscard]] std::span<const EmbeddedFile> embedded_rows();

}  // namespace fourhold::measured

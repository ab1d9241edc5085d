// What a user says a run took: "memory=71.3GiB step=2.41s".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fourhold/base/units.h"

namespace fourhold::confidence {

struct Observation {
  std::optional<Bytes> memory;         // held on the fullest device, the runtime included
  std::optional<double> step_seconds;  // of one optimizer step
};

// Items stand apart by blanks or commas; each is a key, '=' and a value with its unit: bytes for
// memory, s or ms for step. Throws Error at `where` for an unknown or repeated key, a value without
// a unit or not above 0, and a text without an item.
[[nodiscard]] Observation parse_observation(std::string_view text, const std::string& where);

}  // namespace fourhold::confidence

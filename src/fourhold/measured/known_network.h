// Networks between nodes that a source's rows do not state: data/measured/tables/networks.csv.
#pragma once

#include <string_view>

#include "fourhold/hardware/link.h"

namespace fourhold::measured {

// data/measured/tables/networks.csv; a generated source defines it.
[[nodiscard]] std::string_view networks_text();

// That of the rows of this family, one way and per device, or null.
[[nodiscard]] const hardware::Link* known_network(std::string_view family);

}  // namespace fourhold::measured

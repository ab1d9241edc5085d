// The instruction set of tests that take the machine's best: `--isa=NAME` of a test binary forces
// another, by the names of `fourhold --isa`.
#pragma once

#include <string>

#include "fourhold/engine/kernels/isa.h"

namespace fourhold::engine::testing {

// The best one where none is forced.
[[nodiscard]] Isa tested_isa();

// " --isa NAME", for a command line.
[[nodiscard]] std::string tested_isa_option();

}  // namespace fourhold::engine::testing

// What this machine's CPU can run, and what a plan's field `isa` means here.
#pragma once

#include <string_view>

#include "fourhold/plan/isa.h"

namespace fourhold::engine {

using plan::Isa;

// The highest instruction set that CPU and operating system offer. The first call asks the kernel
// for the use of AMX tiles; it must come before threads are started that use them (a thread started
// earlier has no permission).
[[nodiscard]] Isa best_isa();

// "auto" is the best one. Throws Error when the name is unknown or the machine lacks what it names.
[[nodiscard]] Isa isa_of_plan(std::string_view name);
// The same on a machine whose best is `best`.
[[nodiscard]] Isa isa_of_plan(std::string_view name, Isa best);

}  // namespace fourhold::engine

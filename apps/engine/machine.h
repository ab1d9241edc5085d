// What this machine gives a run: cores and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fourhold/engine/kernels/isa.h"
#include "fourhold/engine/launch/rank_checks.h"

namespace fourhold::engine_app {

// Cores this process may run on (its affinity mask).
[[nodiscard]] int usable_cores();

// Cores of this machine that this process may run on, each counted once however many threads it
// offers: what a launcher binds ranks to.
[[nodiscard]] int physical_cores();

// What this process finds as a rank, by what its launcher says: to be asked before any library of
// messages is.
[[nodiscard]] engine::RankPlace rank_place();

// What the ranks of this rank's node share in /dev/shm.
[[nodiscard]] Bytes shared_memory(const engine::RankPlace& place);

// Of the MPI that this program was built with, if any.
[[nodiscard]] std::optional<engine::Launcher> launcher_of_build();

// The processor's name, as the system gives it; "processor" where it gives none.
[[nodiscard]] std::string processor_name();

// Threads of a run: those asked for, or all usable cores. Throws Error for more than the mask has.
[[nodiscard]] int threads_of(std::int64_t asked);

// The instruction set of a run: the one asked for, or the best there is. From here on no kernel of
// the process leaves it. Throws Error as isa_of_plan.
[[nodiscard]] engine::Isa use_isa(const std::optional<std::string>& asked);

}  // namespace fourhold::engine_app

// What this machine gives a run: cores and memory.
#pragma once

#include <cstdint>
#include <string>

namespace fourhold::engine_app {

// Cores this process may run on (its affinity mask).
[[nodiscard]] int usable_cores();

// The processor's name, as the system gives it; "processor" where it gives none.
[[nodiscard]] std::string processor_name();

// Threads of a run: those asked for, or all usable cores. Throws Error for more than the mask has.
[[nodiscard]] int threads_of(std::int64_t asked);

}  // namespace fourhold::engine_app

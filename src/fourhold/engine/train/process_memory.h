// What the process holds beside its arenas: libraries, code's own data, stacks.
#pragma once

#include "fourhold/base/units.h"

namespace fourhold::engine {

struct ProcessMemory {
  Bytes resident;  // anonymous and shared memory now (RssAnon + RssShmem): code and files apart
  Bytes peak;      // most of anything that was resident, files included (VmHWM)
};

// Of this process, from /proc/self/status. Throws Error where the system does not tell.
[[nodiscard]] ProcessMemory process_memory();

// Counts `peak` anew from here, where the system lets a process do that (Linux 4.0 and later).
void forget_peak();

// What the machine can still give (MemAvailable of /proc/meminfo).
[[nodiscard]] Bytes available_memory();

}  // namespace fourhold::engine

// The lines of log.jsonl that a run leaves for the one that goes on with it.
#pragma once

#include <cstdint>
#include <string>

namespace fourhold::engine_app {

// Cuts the lines of steps from `first` on, which are about to be done again, and a last line that
// was never finished. What stays is written beside, synced and renamed, so that no earlier line is
// lost whatever happens. Returns how many lines were cut. Throws Error where the file cannot be
// read or written. A line that is of no step stays.
[[nodiscard]] std::int64_t cut_steps_from(const std::string& path, std::int64_t first);

}  // namespace fourhold::engine_app

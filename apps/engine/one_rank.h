// What one rank needed for the same steps, from its own run: the measured speed-up is over that.
#pragma once

#include <cstdint>
#include <string>

namespace fourhold::engine_app {

// Seconds of a step, as `fourhold train --json` on one rank wrote them to `path`. Throws Error
// where the file is no such answer, is of several ranks, had no step, or had steps of another
// number of tokens.
[[nodiscard]] double one_rank_seconds(const std::string& path, std::int64_t tokens_per_step);

}  // namespace fourhold::engine_app

// What one rank needed for the same steps, from its own run: the measured speed-up is over that.
#pragma once

#include <string>

#include "apps/engine/train_report.h"

namespace fourhold::engine_app {

// Seconds of a step, as `fourhold train --json` on one rank wrote them to `path`. Throws Error
// where the file is no such answer, is of several ranks, had no step, or is of another model,
// another precision or steps of another number of tokens than this run.
[[nodiscard]] double one_rank_seconds(const std::string& path, const RunFrame& frame);

}  // namespace fourhold::engine_app

// Whether --out has room for the checkpoints of a run, asked before its first step.
#pragma once

#include <cstdint>

#include "fourhold/engine/train/train_run.h"

namespace fourhold::engine_app {

// Checkpoints that a run adds to those in its folder, at most at once: while the newest is written
// the `keep` before it are still there. `saves` in all, of which `there` are on the disk already.
[[nodiscard]] std::int64_t added_checkpoints(std::int64_t saves, std::int64_t keep,
                                             std::int64_t there);

// Throws Error with the figures where the disk of --out cannot hold them beside what it has.
void require_disk(const engine::TrainSetup& setup);

}  // namespace fourhold::engine_app

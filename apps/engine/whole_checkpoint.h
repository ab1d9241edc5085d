// Weights that a training run saved are taken only from a save that is proven whole.
#pragma once

#include <optional>
#include <string>

#include "fourhold/engine/checkpoint/saved_checkpoint.h"

namespace fourhold::engine_app {

// The checkpoint that `weights`, a folder or a file in one, is part of, every byte checked; no
// value for weights of others. Errors are engine::open_checkpoint's, and a save of ours that has
// no marker is one.
[[nodiscard]] std::optional<engine::SavedCheckpoint> whole_checkpoint(const std::string& weights);

}  // namespace fourhold::engine_app

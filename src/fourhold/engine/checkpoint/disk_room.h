// What a checkpoint takes on the disk, and what the disk still has: known before a run begins.
#pragma once

#include <optional>
#include <string>

#include "fourhold/base/units.h"
#include "fourhold/engine/checkpoint/published_layout.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/recipe.h"

namespace fourhold::engine {

// Of one checkpoint of a run with this recipe: the published files to the byte, and the optimizer's
// state without what describes it (some hundred bytes a tensor and rank). Errors are lay_out's.
[[nodiscard]] Bytes checkpoint_bytes(const model::ModelConfig& config, const WeightsFormat& format,
                                     const plan::Recipe& recipe);

// What may still be written where `path` is or would be made; no value where the file system does
// not tell.
[[nodiscard]] std::optional<Bytes> free_disk_bytes(const std::string& path);

}  // namespace fourhold::engine

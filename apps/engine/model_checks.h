// What the engine asks of a model, whatever is done with it.
#pragma once

#include "fourhold/model/model_config.h"
#include "fourhold/model/numerics.h"

namespace fourhold::engine_app {

// Throws Error naming what a model asks for that no kernel computes.
void require_kernels(const model::ModelConfig& model, const model::Numerics& numerics);

}  // namespace fourhold::engine_app

// The modules of a model: its parameters by name and shape.
#pragma once

#include <vector>

#include "fourhold/api/params.h"
#include "fourhold/model/checkpoint_header.h"
#include "fourhold/model/model_config.h"

namespace fourhold::api {

// In the order embedding, layers, head; kinds of layers that share a parameter share its line.
[[nodiscard]] std::vector<Module> modules_of(const model::ModelConfig& config);

// Stored tensors, numbers in their names replaced by *: "model.layers.*.mlp.up_proj.weight".
[[nodiscard]] std::vector<Module> modules_of(const std::vector<model::StoredTensor>& tensors);

}  // namespace fourhold::api

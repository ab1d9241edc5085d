// Where gradients flow through an operation, whatever its sizes: the rules that derive a backward.
#pragma once

#include "fourhold/model/operations.h"
#include "fourhold/plan/sharding.h"

namespace fourhold::plan {

// Outputs that carry a gradient back: all of a split, the first of everything else (statistics,
// masks and indices carry none). Routing weights are an output of permute that does.
[[nodiscard]] bool carries_gradient(const model::Operation& op, int output);

// Inputs a gradient flows to: not ids, targets or indices.
[[nodiscard]] bool takes_gradient(const model::Operation& op, int input);

// Backward only renames the gradient: both inputs of a sum, views, biases' inputs.
[[nodiscard]] bool passes_gradient_on(const model::Operation& op, Collective collective);

// Backward may overwrite the incoming gradient with the outgoing one, if nobody else reads it.
[[nodiscard]] bool works_in_place(const model::Operation& op, Collective collective);

}  // namespace fourhold::plan

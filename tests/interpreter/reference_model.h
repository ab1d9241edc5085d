// The loss of a model written straight from the mathematics of its config: one sequence at a time,
// no operation list, no program, no kernels. An independent second opinion on what the operations
// say.
#pragma once

#include "fourhold/model/model_config.h"
#include "tests/interpreter/batch.h"
#include "tests/interpreter/parameters.h"

namespace fourhold::interpreter {

// Without dropout and adapters. Conventions that a config leaves open are those of the kernels:
// epsilon 1e-5, gelu by the error function, rotation of halves with base 10000, routing weights
// that are the chosen experts' own softmax probabilities.
[[nodiscard]] double reference_loss(const model::ModelConfig& config, const ParameterValues& values,
                                    const Batch& batch);

}  // namespace fourhold::interpreter

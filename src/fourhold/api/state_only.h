// The state of a bare parameter count, without a model: what `fit --parameters N` answers.
#pragma once

#include <cstdint>

#include "fourhold/api/fit.h"
#include "fourhold/plan/recipe.h"

namespace fourhold::api {

// Error for plan fields that need a model's shapes.
[[nodiscard]] FitResult fit_of_count(const FitRequest& request);

// The smallest number of devices over which ZeRO-`zero` makes the state fit `budget`, 0 where none
// does: what is not sharded may be too big already.
[[nodiscard]] std::int64_t least_devices(std::int64_t parameters, const plan::Recipe& recipe,
                                         double optimizer_temporary, int zero, Bytes budget);

}  // namespace fourhold::api

// The global batch of a search whose user gave none.
#pragma once

#include <cstdint>

#include "fourhold/plan/plan_request.h"

namespace fourhold::api {

// micro_batch x grad_accum x dp where all three are given; otherwise eight sequences per device
// (`count` is given), rounded up to a multiple of those of the three that are given.
[[nodiscard]] std::int64_t usual_global_batch(const plan::PlanRequest& request);

}  // namespace fourhold::api

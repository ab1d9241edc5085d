// What of all that a plan can say the engine runs.
#pragma once

#include "fourhold/plan/plan.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::engine_app {

// Throws Error naming the option that asks for what the engine does not run: splits, offload,
// optimizers, formats, adapters. Asked before a plan is completed, whose refusals speak of profiles
// to choose from; the engine is one.
void require_engine_request(const plan::PlanRequest& request);

// Throws Error for a completed plan that has nothing to shard over.
void require_engine_plan(const plan::Plan& plan);

// Whether the engine runs a plan that answers a failure.
[[nodiscard]] bool is_engine_plan(const plan::Plan& plan);

}  // namespace fourhold::engine_app

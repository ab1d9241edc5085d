// Options of `fourhold train` that would do nothing beside another one: refused, never ignored.
#pragma once

#include "fourhold/api/train.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine_app {

// Throws Error naming the option and what takes its effect away. `plan` is the completed one.
void refuse_options_without_effect(const api::TrainRequest& request, const plan::Plan& plan);

}  // namespace fourhold::engine_app

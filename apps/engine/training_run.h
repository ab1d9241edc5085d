// The run that train's options ask for, before anything of the machine is known.
#pragma once

#include "fourhold/api/run.h"
#include "fourhold/api/train.h"

namespace fourhold::engine_app {

// With the plan file read. Throws Error for a profile the engine does not hold, and for what a plan
// asks of it that it does not run.
[[nodiscard]] api::RunRequest training_run(const api::TrainRequest& request);

}  // namespace fourhold::engine_app

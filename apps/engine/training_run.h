// The run that train's options ask for, before anything of the machine is known.
#pragma once

#include "fourhold/api/run.h"
#include "fourhold/api/train.h"

namespace fourhold::engine_app {

// With the plan file read. Throws Error for a profile the engine does not hold.
[[nodiscard]] api::RunRequest training_run(const api::TrainRequest& request);

}  // namespace fourhold::engine_app

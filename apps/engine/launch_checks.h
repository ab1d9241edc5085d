// What all ranks of a run would refuse, found before the first is started.
#pragma once

#include <cstdint>

#include "fourhold/api/run.h"
#include "fourhold/api/train.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine_app {

// Where ranks will run: only on this machine its memory and instructions are known to be theirs.
enum class Whereabouts : std::uint8_t { here, elsewhere };

// The plan of a run that train would begin. `run` is training_run(request) with the threads of a
// rank. Throws the Error that train would end with: those of check_training, and of memory, data,
// weights, logs, the checkpoint to go on from and the files that speed is compared with.
[[nodiscard]] plan::Plan require_start(const api::TrainRequest& request, api::RunRequest run,
                                       Whereabouts ranks);

}  // namespace fourhold::engine_app

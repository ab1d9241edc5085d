#include "apps/engine/launch_checks.h"

#include <string>
#include <utility>

#include "apps/engine/expected_speed.h"
#include "apps/engine/memory_checks.h"
#include "apps/engine/one_rank.h"
#include "apps/engine/resume_checks.h"
#include "apps/engine/train_report.h"
#include "apps/engine/training_checks.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/kernels/isa.h"
#include "fourhold/engine/train/process_memory.h"
#include "fourhold/engine/train/run_data.h"

namespace fourhold::engine_app {
namespace {

// Of a rank: elsewhere --memory alone can be too little.
void require_rank_memory(const CheckedTraining& checked, const api::TrainRequest& request,
                         Whereabouts ranks) {
  if (ranks == Whereabouts::here) {
    const Bytes share(engine::available_memory().count() / checked.planned.plan.devices());
    require_memory(checked.run, checked.planned, memory_limit(request.memory, share));
  } else if (request.memory) {
    require_memory(checked.run, checked.planned, memory_limit(request.memory, *request.memory));
  }
}

// By their names and shapes; the bytes are the ranks' to read.
void require_weights(const engine::TrainSetup& setup) {
  if (!setup.checkpoints.weights || !setup.checkpoints.resume.empty()) return;
  const engine::WeightFiles files(*setup.checkpoints.weights);
  const engine::PublishedWeights weights(files.tensors(), setup.model, *setup.checkpoints.weights);
}

}  // namespace

plan::Plan require_start(const api::TrainRequest& request, api::RunRequest run, Whereabouts ranks) {
  if (ranks == Whereabouts::here) {
    run.plan.isa = std::string(plan::to_string(engine::isa_of_plan(run.plan.isa.value_or("auto"))));
  }
  const CheckedTraining checked = check_training(request, run);
  const engine::TrainSetup& setup = checked.setup;
  require_rank_memory(checked, request, ranks);
  require_own_log(request);
  require_resumable(request, setup);
  if (!request.one_rank.empty()) {
    static_cast<void>(one_rank_seconds(request.one_rank, frame_of(setup)));
  }
  require_speed_device(request.device, setup);
  const engine::RunData data(setup);
  require_weights(setup);
  return setup.plan;
}

}  // namespace fourhold::engine_app

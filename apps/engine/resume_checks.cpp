#include "apps/engine/resume_checks.h"

#include <string>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/resumption.h"
#include "fourhold/engine/checkpoint/run_state.h"
#include "fourhold/engine/train/starting_point.h"

namespace fourhold::engine_app {

void require_folder_of_auto(const api::TrainRequest& request) {
  if (request.resume != "auto" || !request.out.empty()) return;
  throw Error("--resume", "auto looks in --out, which is not given", "add --out FOLDER");
}

void require_resumable(const api::TrainRequest& request, const model::ModelConfig& model,
                       const plan::Plan& plan) {
  if (request.resume.empty()) return;
  require_folder_of_auto(request);
  const engine::Resumption from =
      engine::find_resumption(request.out, request.resume, engine::Verify::sizes);
  if (!from.checkpoint) return;
  const engine::SavedCheckpoint& saved = *from.checkpoint;
  engine::check_resumable(saved.run, saved.model,
                          {.model = model,
                           .precision = engine::precision_name(plan),
                           .optimizer = engine::optimizer_name(plan),
                           .data = saved.run.data},
                          saved.path);
}

}  // namespace fourhold::engine_app

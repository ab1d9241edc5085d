#include "apps/engine/resume_checks.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/resumption.h"
#include "fourhold/engine/checkpoint/run_state.h"
#include "fourhold/engine/train/starting_point.h"

namespace fourhold::engine_app {

void require_folder_of_auto(const api::TrainRequest& request) {
  if (request.resume != "auto" || !request.out.empty()) return;
  throw Error("--resume", "auto looks in --out, which is not given", "add --out FOLDER");
}

std::string log_of(const std::string& folder) { return folder + "/log.jsonl"; }

bool holds_log(const std::string& folder) {
  std::error_code fault;
  const std::uintmax_t bytes = std::filesystem::file_size(log_of(folder), fault);
  return !fault && bytes > 0;
}

void require_own_log(const api::TrainRequest& request) {
  if (request.out.empty() || !request.resume.empty() || !holds_log(request.out)) return;
  throw Error("--out", request.out + " holds the log of another run",
              "go on with it by --resume auto, or name another folder");
}

void require_resumable(const api::TrainRequest& request, const engine::TrainSetup& setup) {
  if (request.resume.empty() && request.out.empty()) return;
  require_folder_of_auto(request);
  const engine::Resumption from =
      engine::find_resumption(request.out, request.resume, engine::Verify::sizes);
  if (!from.checkpoint) return;
  const engine::SavedCheckpoint& saved = *from.checkpoint;
  engine::check_resumable(saved.run, saved.model,
                          {.model = setup.model,
                           .precision = engine::precision_name(setup.plan),
                           .optimizer = engine::optimizer_name(setup.plan),
                           .data = saved.run.data},
                          saved.path);
  engine::require_steps_left(saved.run, setup.steps);
}

}  // namespace fourhold::engine_app

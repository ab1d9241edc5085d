#include "apps/engine/training_run.h"

#include <optional>
#include <string>

#include "apps/engine/engine_plan.h"
#include "fourhold/api/plan_file_use.h"
#include "fourhold/base/error.h"

namespace fourhold::engine_app {

api::RunRequest training_run(const api::TrainRequest& request) {
  api::RunRequest run;
  run.model = request.model;
  run.plan_file = request.plan_file;
  run.plan = request.plan;
  const std::optional<std::string> asked = request.plan.profile;
  api::read_plan_file(run);
  run.plan.profile = asked;  // a plan file's is of the planner's choosing
  if (run.plan.profile && *run.plan.profile != "fourhold") {
    throw Error("--profile",
                "the engine holds what profile fourhold says, not " + *run.plan.profile,
                "leave --profile out, or give --profile fourhold");
  }
  run.plan.profile = "fourhold";
  require_engine_request(run.plan);
  return run;
}

}  // namespace fourhold::engine_app

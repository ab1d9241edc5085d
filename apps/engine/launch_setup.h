// From what a user asks of `fourhold launch` to ranks, threads and a command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/engine/verbs.h"
#include "fourhold/api/launch.h"
#include "fourhold/engine/launch/launch_command.h"
#include "fourhold/engine/launch/restarts.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine_app {

struct PreparedLaunch {
  engine::Launcher launcher = engine::Launcher::open_mpi;
  std::vector<std::string> train;  // words of each rank: program, train, plan and options
  engine::Attempt first;           // its plan has the threads of each rank
  std::string hostfile;
  std::int64_t node_cores = 1;
  bool run_as_root = false;
  std::vector<std::string> notes;
};

// Reads the plan as train would. Throws Error for what train would refuse on every rank, and for
// options of train that restarts cannot do without.
[[nodiscard]] PreparedLaunch prepare_launch(const api::LaunchRequest& request);

[[nodiscard]] engine::LaunchJob job_of(const PreparedLaunch& prepared,
                                       const engine::Attempt& attempt);

}  // namespace fourhold::engine_app

// Starting again a job that ended with a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fourhold/engine/launch/hostfile.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine {

// One start of the job.
struct Attempt {
  plan::Plan plan;
  std::vector<Host> hosts;
  bool resume = false;  // from the newest checkpoint
};

// What the rule needs of the world around it.
struct RestartWorld {
  std::function<int(const Attempt&)> run;  // the job's exit code
  // Those that can still be started on.
  std::function<std::vector<Host>(const std::vector<Host>&)> answering;
  std::function<std::int64_t(const std::vector<Host>&, const plan::Plan&)> room;  // ranks they take
  std::function<bool()> stop_asked;
  std::function<void(const std::string&)> say;
};

// Runs, and starts again at most `restarts` times. 0, 1 and 2 are answers of the program (done, no,
// bad input), which another start would only repeat: after them it ends, unless a host was lost.
// Where hosts are lost, the job goes on on those that answer, with fewer replicas where the plan
// allows that and with none left out where it still fits; else it ends. Returns the exit code of
// the last run. A stop that was asked for ends it whatever the code.
[[nodiscard]] int run_with_restarts(const Attempt& first, std::int64_t restarts,
                                    const RestartWorld& world);

}  // namespace fourhold::engine

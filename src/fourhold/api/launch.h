// `fourhold launch`: a plan on its ranks. The engine's program answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/option.h"

namespace fourhold::api {

struct LaunchRequest {
  std::string plan;                // or a model, the plan file or flags behind --
  std::vector<std::string> train;  // words of train's command line
  std::string hostfile;
  bool run = false;
  std::optional<std::int64_t> restarts;
  bool slurm = false;
  bool allow_run_as_root = false;
};

template <class Visitor>
void visit_options(Visitor&& visit, LaunchRequest& request) {
  visit(Option{{"plan", "a plan file that names its model, or a model with the plan behind it"},
               OptionGroup::operand,
               ValueKind::file},
        request.plan);
  visit(Option{{"train", "options of train, such as --steps 100"},
               OptionGroup::operand,
               ValueKind::text,
               "OPTIONS"},
        request.train);
  visit(Option{{"run", "run the command instead of printing it"},
               OptionGroup::question,
               ValueKind::flag},
        request.run);
  visit(Option{{"restarts",
                "run, and start a job that failed again at most so often, from its newest "
                "checkpoint",
                {0, 1'000'000}},
               OptionGroup::question,
               ValueKind::number},
        request.restarts);
  visit(
      Option{{"hostfile", "hosts to run on, one a line as NAME slots=N; this machine if not given"},
             OptionGroup::question,
             ValueKind::file},
      request.hostfile);
  visit(Option{{"slurm", "for Slurm's srun; so inside a Slurm job in any case"},
               OptionGroup::question,
               ValueKind::flag},
        request.slurm);
  visit(Option{{"allow_run_as_root", "tell Open MPI that running as root is meant"},
               OptionGroup::question,
               ValueKind::flag},
        request.allow_run_as_root);
}

}  // namespace fourhold::api

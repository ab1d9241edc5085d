#include "apps/engine/launch_setup.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "apps/engine/launch_checks.h"
#include "apps/engine/machine.h"
#include "apps/engine/training_run.h"
#include "apps/shell/parse.h"
#include "fourhold/api/plan_choice.h"
#include "fourhold/api/request.h"
#include "fourhold/api/train.h"
#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/launch/fewer_ranks.h"
#include "fourhold/engine/launch/option_words.h"

namespace fourhold::engine_app {
namespace {

using Words = std::vector<std::string>;

constexpr std::int64_t kMostHostfileBytes = 1 << 20;
constexpr const char* kRootVariables[] = {"OMPI_ALLOW_RUN_AS_ROOT",
                                          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"};

// The program that stands beside this one, by a path that holds on every host.
std::string own_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fourhold").string();
}

api::TrainRequest train_request(const Words& words) {
  return api::request_of<api::TrainRequest>(
      shell::parse_verb(api::verb_named("train"), words).arguments);
}

engine::Launcher launcher_of(const api::LaunchRequest& request) {
  const bool in_job = std::getenv("SLURM_JOB_ID") != nullptr;
  const std::optional<engine::Launcher> own = launcher_of_build();
  if (!own) {
    throw Error("MPI", "this program was built without it, so it runs one rank only",
                "install libopenmpi-dev and openmpi-bin, and build again with -DFOURHOLD_MPI=ON");
  }
  return request.slurm || in_job ? engine::Launcher::slurm : *own;
}

// Without a word about threads each rank takes its share of a node's cores.
std::int64_t threads_per_rank(const api::RunRequest& run, const PreparedLaunch& prepared) {
  engine::LaunchJob job =
      job_of(prepared, {api::complete_plan(api::load_run(run)).plan, prepared.first.hosts, false});
  job.threads = prepared.node_cores;  // as few ranks on a node as its hosts allow
  return std::max<std::int64_t>(1, prepared.node_cores / engine::node_ranks_of(job));
}

// All ranks are on this machine, so its memory is theirs.
bool is_local(const PreparedLaunch& prepared) {
  return prepared.first.hosts.empty() && prepared.launcher != engine::Launcher::slurm;
}

// Open MPI does not start as root unless told that this is meant.
void require_root(const api::LaunchRequest& request, PreparedLaunch& prepared) {
  if (prepared.launcher != engine::Launcher::open_mpi) return;
  prepared.run_as_root = request.allow_run_as_root;
  const bool is_set = std::all_of(std::begin(kRootVariables), std::end(kRootVariables),
                                  [](const char* name) { return std::getenv(name) != nullptr; });
  if (geteuid() != 0 || prepared.run_as_root || is_set) return;
  const std::string variables = fmt::format("{}=1 {}=1", kRootVariables[0], kRootVariables[1]);
  if (request.run || request.restarts) {
    throw Error("mpirun", "Open MPI refuses to run as root",
                fmt::format("run as another user; where root is meant, as in a container, add "
                            "--allow-run-as-root or set {}",
                            variables));
  }
  prepared.notes.push_back(
      fmt::format("Open MPI refuses to run as root: where that is meant set {}, or give "
                  "--allow-run-as-root",
                  variables));
}

void require_restartable(const api::LaunchRequest& request, const api::TrainRequest& train,
                         PreparedLaunch& prepared) {
  if (request.restarts.value_or(0) == 0) return;
  if (train.out.empty()) {
    throw Error("--restarts", "goes on from checkpoints, and train keeps none without --out",
                "add --out FOLDER and --save-every N behind --");
  }
  if (!train.save_every) {
    prepared.notes.emplace_back(
        "train saves at the end alone: a restart begins at the first step; --save-every N behind "
        "-- keeps what was done");
  }
}

}  // namespace

engine::LaunchJob job_of(const PreparedLaunch& prepared, const engine::Attempt& attempt) {
  engine::LaunchJob job;
  job.ranks = attempt.plan.devices();
  job.threads = attempt.plan.threads;
  job.node_cores = prepared.node_cores;
  job.hosts = attempt.hosts;
  if (attempt.hosts == prepared.first.hosts) job.hostfile = prepared.hostfile;
  job.library = launcher_of_build().value_or(job.library);
  job.run_as_root = prepared.run_as_root;
  job.program = prepared.train;
  if (attempt.plan.dp != prepared.first.plan.dp) {
    engine::set_replicas(job.program, attempt.plan);
  }
  if (attempt.resume) engine::set_option(job.program, "--resume", "auto");
  return job;
}

PreparedLaunch prepare_launch(const api::LaunchRequest& request) {
  if (request.plan.empty()) {
    throw Error("PLAN", "is missing", "name a plan file: `fourhold plan ... -o plan.json`");
  }
  PreparedLaunch prepared;
  prepared.launcher = launcher_of(request);
  prepared.hostfile = request.hostfile;
  prepared.node_cores = physical_cores();
  if (!request.hostfile.empty()) {
    prepared.first.hosts = engine::parse_hostfile(
        read_text_file(request.hostfile, kMostHostfileBytes), request.hostfile);
  }
  Words words{request.plan};
  words.insert(words.end(), request.train.begin(), request.train.end());
  const api::TrainRequest train = train_request(words);
  api::RunRequest run = training_run(train);
  prepared.train = {own_program(), "train"};
  prepared.train.insert(prepared.train.end(), words.begin(), words.end());
  if (!run.plan.threads) {
    run.plan.threads = threads_per_rank(run, prepared);
    prepared.train.insert(prepared.train.end(),
                          {"--threads", fmt::format("{}", *run.plan.threads)});
  }
  const Whereabouts ranks = is_local(prepared) ? Whereabouts::here : Whereabouts::elsewhere;
  prepared.first.plan = require_start(train, run, ranks);
  require_restartable(request, train, prepared);
  require_root(request, prepared);
  return prepared;
}

}  // namespace fourhold::engine_app

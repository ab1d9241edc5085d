#include "fourhold/engine/launch/rank_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::engine {
namespace {

std::string hint_on_interface() {
  return fmt::format(
      "name the interface to MPI: srun --mpi={} for Open MPI, --mpi={} for MPICH (`fourhold launch "
      "--slurm` prints the command)",
      slurm_interface(Launcher::open_mpi), slurm_interface(Launcher::mpich));
}

// Started by another library's launcher, every process is rank 0 of 1: N runs of the whole job,
// which write the same files.
void require_one_library(const RankPlace& place) {
  if (!place.started.launcher || place.started.ranks == place.mpi_ranks) return;
  const std::string_view by = name_of(*place.started.launcher);
  const std::string own =
      place.mpi.empty() ? std::string("was built without MPI") : "was built with " + place.mpi;
  throw Error(
      "MPI",
      fmt::format("{} started {}, and each sees {}: the program {}", by,
                  counted(place.started.ranks, "rank"), counted(place.mpi_ranks, "rank"), own),
      place.mpi.empty() ? std::string("build it with MPI installed (libopenmpi-dev), or "
                                      "start one rank without a launcher")
      : *place.started.launcher == Launcher::slurm
          ? hint_on_interface()
          : std::string("start it by the launcher of that library: `fourhold launch` "
                        "prints the command"));
}

void require_ranks(const RankNeeds& needs, const RankPlace& place) {
  if (needs.ranks == place.mpi_ranks) return;
  const std::string what = fmt::format("says {}, and there {} {}", counted(needs.ranks, "rank"),
                                       place.mpi_ranks == 1 ? "is" : "are", place.mpi_ranks);
  if (needs.ranks == 1) {
    throw Error("plan", what,
                fmt::format("start it without {}, or split the work: --dp {} for data parallel",
                            program_of(place.started.launcher.value_or(Launcher::open_mpi)),
                            place.mpi_ranks));
  }
  const std::string_view by = program_of(place.started.launcher.value_or(Launcher::open_mpi));
  throw Error("plan", what,
              fmt::format("`{} -n {} {}`; `fourhold launch` prints the whole command, with the "
                          "cores of each rank",
                          by, needs.ranks, needs.command));
}

void require_shared_memory(const RankNeeds& needs, const RankPlace& place) {
  if (needs.shared <= place.shared_free) return;
  throw Error(
      "/dev/shm",
      fmt::format("has {} free, and the {} of this node share {}", format_bytes(place.shared_free),
                  counted(place.node_ranks, "rank"), format_bytes(needs.shared)),
      fmt::format("`mount -o remount,size={} /dev/shm` as root, a container started with "
                  "--shm-size={}, or fewer ranks on a node",
                  needs.shared.count(), needs.shared.count()));
}

}  // namespace

void require_interface(const StartedAs& started, const Environment& environment) {
  if (started.launcher != Launcher::slurm || started.ranks == 1) return;
  if (environment("PMIX_RANK") || environment("PMI_RANK")) return;
  throw Error("MPI",
              fmt::format("srun started {} and gave them no way to meet (its --mpi is none)",
                          counted(started.ranks, "rank")),
              hint_on_interface());
}

void require_cores(std::int64_t threads, const RankPlace& place) {
  if (threads <= place.mask_cores) return;
  std::string hint = fmt::format("ask for at most --threads {}", place.mask_cores);
  if (!place.started.launcher) {
    hint += ", or widen the affinity mask (taskset, the container's cpus)";
  } else if (threads > place.node_cores) {
    hint += fmt::format(": the node has {}", counted(place.node_cores, "core"));
  } else if (*place.started.launcher == Launcher::open_mpi) {
    hint += fmt::format(
        ", or start it with mpirun --map-by slot:PE={} or --bind-to none: Open MPI binds each of "
        "one or two ranks to one core",
        threads);
  } else if (*place.started.launcher == Launcher::mpich) {
    hint += fmt::format(", or start it with mpiexec -bind-to core:{} or -bind-to none", threads);
  } else {
    hint += fmt::format(", or start it with srun --cpus-per-task={}", threads);
  }
  throw Error(
      "--threads",
      fmt::format("{} are more than the {} this {} may run on", threads,
                  counted(place.mask_cores, "core"), place.started.launcher ? "rank" : "process"),
      hint);
}

std::int64_t default_threads(const RankPlace& place) {
  if (place.mask_cores < place.node_cores) return std::max<std::int64_t>(1, place.mask_cores);
  return std::max<std::int64_t>(1, place.node_cores / std::max<std::int64_t>(1, place.node_ranks));
}

std::vector<std::string> check_ranks(const RankNeeds& needs, const RankPlace& place) {
  require_one_library(place);
  require_ranks(needs, place);
  require_cores(needs.threads, place);
  require_shared_memory(needs, place);
  std::vector<std::string> warnings;
  if (place.node_ranks > 1 && needs.threads * place.node_ranks > place.node_cores) {
    const std::int64_t fitting = place.node_cores / place.node_ranks;
    warnings.push_back(fmt::format(
        "{} of {} share the {} of this node: those that wait take turns with those that work; {}",
        counted(place.node_ranks, "rank"), counted(needs.threads, "thread"),
        counted(place.node_cores, "core"),
        fitting >= 1 ? fmt::format("--threads {} gives each its own", fitting)
                     : std::string("fewer ranks on a node are faster")));
  }
  return warnings;
}

}  // namespace fourhold::engine

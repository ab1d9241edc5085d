#include "fourhold/engine/launch/launcher.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::engine {
namespace {

std::optional<std::int64_t> number(const Environment& environment, std::string_view name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  return parse_count(*text, std::string(name));
}

std::int64_t required(const Environment& environment, std::string_view name,
                      std::string_view because) {
  const std::optional<std::int64_t> value = number(environment, name);
  if (value) return *value;
  throw Error(std::string(name), fmt::format("is not set, but {} is", because),
              fmt::format("unset {}, or start the program by mpirun, mpiexec or srun", because));
}

// Of a library that states its ranks in three variables.
std::optional<StartedAs> started_by_mpi(const Environment& environment, Launcher launcher,
                                        const std::array<std::string_view, 3>& size_rank_local) {
  const auto& [size, rank, local] = size_rank_local;
  const std::optional<std::int64_t> ranks = number(environment, size);
  if (!ranks) return std::nullopt;
  return StartedAs{launcher, required(environment, rank, size), *ranks,
                   required(environment, local, size)};
}

std::optional<StartedAs> started_by_slurm(const Environment& environment) {
  constexpr std::string_view kTasks = "SLURM_STEP_NUM_TASKS";
  const std::optional<std::int64_t> ranks = number(environment, kTasks);
  if (!ranks) return std::nullopt;
  StartedAs started{Launcher::slurm, required(environment, "SLURM_PROCID", kTasks), *ranks};
  const std::optional<std::string> tasks = environment("SLURM_STEP_TASKS_PER_NODE");
  // Older versions do not say: all tasks may be here.
  started.node_ranks =
      tasks ? tasks_of_node(*tasks, number(environment, "SLURM_NODEID").value_or(0)) : *ranks;
  return started;
}

}  // namespace

std::optional<std::string> process_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::int64_t tasks_of_node(std::string_view tasks_per_node, std::int64_t node) {
  const std::string where = "SLURM_STEP_TASKS_PER_NODE";
  std::int64_t first = 0;  // node of the group
  std::string_view rest = tasks_per_node;
  while (!rest.empty()) {
    const std::string_view group = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), group.size() + 1));
    const std::size_t open = group.find("(x");
    const bool repeated = open != std::string_view::npos && group.back() == ')';
    const std::int64_t tasks = parse_count(repeated ? group.substr(0, open) : group, where);
    const std::int64_t nodes =
        repeated ? parse_count(group.substr(open + 2, group.size() - open - 3), where) : 1;
    if (node < first + nodes) return tasks;
    first += nodes;
  }
  throw Error(where, fmt::format("'{:.60}' says nothing of node {}", tasks_per_node, node),
              "start the program by srun, which sets it");
}

StartedAs started_as(const Environment& environment) {
  if (const auto started = started_by_mpi(
          environment, Launcher::open_mpi,
          {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"})) {
    return *started;
  }
  // Slurm's PMI-2 has a rank and a size as well, but no ranks of the node: those it states itself.
  constexpr std::string_view kLocalRanks = "MPI_LOCALNRANKS";
  const bool by_slurm = !environment(kLocalRanks) && environment("SLURM_STEP_NUM_TASKS");
  if (!by_slurm) {
    if (const auto started =
            started_by_mpi(environment, Launcher::mpich, {"PMI_SIZE", "PMI_RANK", kLocalRanks})) {
      return *started;
    }
  }
  return started_by_slurm(environment).value_or(StartedAs{});
}

}  // namespace fourhold::engine

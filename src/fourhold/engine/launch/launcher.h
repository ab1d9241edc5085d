// Who started this process, and as which rank: read from the environment, before any library of
// messages is asked. So a wrong start is told in words, and not by a library that hangs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fourhold::engine {

enum class Launcher : std::uint8_t { open_mpi, mpich, slurm };
// The program that starts the ranks.
inline constexpr std::array<std::string_view, 3> kLauncherPrograms{"mpirun", "mpiexec.hydra",
                                                                   "srun"};
// The same in words.
inline constexpr std::array<std::string_view, 3> kLauncherNames{"Open MPI's mpirun",
                                                                "MPICH's mpiexec", "Slurm's srun"};
[[nodiscard]] constexpr std::string_view program_of(Launcher launcher) {
  return kLauncherPrograms[static_cast<std::size_t>(launcher)];
}
[[nodiscard]] constexpr std::string_view name_of(Launcher launcher) {
  return kLauncherNames[static_cast<std::size_t>(launcher)];
}

// What `srun --mpi=` is to be told for programs of that launcher's library.
[[nodiscard]] constexpr std::string_view slurm_interface(Launcher library) {
  return library == Launcher::mpich ? "pmi2" : "pmix";
}

// The value of a variable of the environment, or nothing.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
[[nodiscard]] std::optional<std::string> process_environment(std::string_view name);

struct StartedAs {
  std::optional<Launcher> launcher;  // none: by hand
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::int64_t node_ranks = 1;  // on this rank's node, itself among them
};

// Open MPI says it in OMPI_COMM_WORLD_SIZE, _RANK and _LOCAL_SIZE; MPICH in PMI_SIZE, PMI_RANK and
// MPI_LOCALNRANKS, which srun --mpi=pmi2 does not set beside the other two; srun in
// SLURM_STEP_NUM_TASKS, SLURM_PROCID and SLURM_STEP_TASKS_PER_NODE. A batch script has SLURM_NTASKS
// as well, and is no rank. The innermost launcher counts: mpirun inside a Slurm job is mpirun.
// Throws Error for a variable that is no number.
[[nodiscard]] StartedAs started_as(const Environment& environment);

// Tasks of node `node` in "2(x3),1": two on each of three nodes, then one. Throws Error for text of
// another form, or a node that is not there.
[[nodiscard]] std::int64_t tasks_of_node(std::string_view tasks_per_node, std::int64_t node);

}  // namespace fourhold::engine

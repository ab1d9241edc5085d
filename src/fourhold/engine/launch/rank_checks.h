// Whether the ranks that were started are those of the plan, and have room to run: asked before
// anything is allocated. Each wrong start that these refuse is one that runs, and is wrong or slow
// without a word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/units.h"
#include "fourhold/engine/launch/launcher.h"

namespace fourhold::engine {

// What one rank finds where it was started.
struct RankPlace {
  StartedAs started;
  std::int64_t mpi_ranks = 1;   // as the library of messages counts them
  std::string mpi;              // that library: "Open MPI 4.1.4"; "" where there is none
  std::int64_t node_ranks = 1;  // on its node
  std::int64_t mask_cores = 1;  // that it may run on
  std::int64_t node_cores = 1;
  Bytes shared_free;  // in /dev/shm
};

// What a plan asks of that place.
struct RankNeeds {
  std::int64_t ranks = 1;
  std::int64_t threads = 1;  // of each rank
  Bytes shared;              // that the ranks of one node share, all together
  std::string command;       // that was started, as it may be repeated: "fourhold train plan.json"
};

// Throws Error where the number of ranks differs from the plan's, MPI sees fewer ranks than were
// started, a rank has more threads than cores it may run on, or shared memory is too small. Returns
// warnings: more threads than the node has cores.
[[nodiscard]] std::vector<std::string> check_ranks(const RankNeeds& needs, const RankPlace& place);

// Throws Error where srun started several ranks and gave them no way to meet: --mpi=none, which is
// its default unless slurm.conf has another (MpiDefault). An MPI that is started all the same ends
// the process with words of its own. Asked before MPI is.
void require_interface(const StartedAs& started, const Environment& environment);

// Threads of a rank where nobody says how many: the cores it was bound to; those of its node
// divided by its ranks where it is bound to none; at least 1.
[[nodiscard]] std::int64_t default_threads(const RankPlace& place);

// Throws Error for more threads than the rank may run on: they would share a core, which costs a
// third of the speed, and OpenMP's waiting threads take turns with those that work.
void require_cores(std::int64_t threads, const RankPlace& place);

}  // namespace fourhold::engine

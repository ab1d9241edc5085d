// What ranks of one node share in /dev/shm beside anything of ours: the library of messages keeps
// its queues and short messages there.
#pragma once

#include <cstdint>
#include <string_view>

#include "fourhold/base/units.h"
#include "fourhold/engine/launch/launcher.h"

namespace fourhold::engine {

// Open MPI: each rank that has others on its node makes one file, which all of them map; pages are
// taken as they are used, and a rank that finds none left ends with a bus error. `ompi_info --all`
// of 4.1 says: btl_vader_segment_size "Maximum size of all shared memory buffers (default: 4M)",
// btl_vader_backing_directory "Directory to place backing files for shared memory communication
// (default: (linux) /dev/shm)". In 5.0 the same component is called sm. Both are read from
// OMPI_MCA_..., which mpirun --mca sets for every rank, as is a btl that leaves it out.
//
// `mpi` as Communicator::name() gives it. Nothing is known of MPICH, whose segments depend on how
// it was built: 0.
[[nodiscard]] Bytes shared_memory_of_node(std::string_view mpi, std::int64_t node_ranks,
                                          const Environment& environment);

}  // namespace fourhold::engine

#include <array>
#include <cstdlib>

#include "fourhold/engine/communicator/mpi_communicator.h"

namespace fourhold::engine {

// Open MPI's mpirun sets the first, Hydra of MPICH and srun --mpi=pmi2 the PMI ones, srun
// --mpi=pmix the last. SLURM_NTASKS alone is no sign: it stands in batch scripts as well.
bool launched_by_mpi() {
  constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"};
  for (const char* sign : kSigns) {
    if (std::getenv(sign) != nullptr) return true;
  }
  return false;
}

}  // namespace fourhold::engine

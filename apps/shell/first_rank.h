// Of several ranks that a launcher started, the one that speaks.
#pragma once

namespace fourhold::shell {

// Whether this process is rank 0, or no rank at all: by the variables of Open MPI's mpirun
// (OMPI_COMM_WORLD_RANK), of MPICH's mpiexec and srun --mpi=pmi2 (PMI_RANK), and of srun
// (SLURM_PROCID). The first that is set counts: mpirun inside a Slurm job is mpirun. MPI is not
// asked: what every rank answers alike is answered once without starting it.
[[nodiscard]] bool is_first_rank();

}  // namespace fourhold::shell

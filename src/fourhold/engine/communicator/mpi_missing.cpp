// Stands for mpi_communicator.cpp where the build found no MPI.
#include "fourhold/engine/communicator/mpi_communicator.h"

namespace fourhold::engine {

std::unique_ptr<Communicator> mpi_world(const MpiOptions& /*options*/) {
  throw Error("MPI", "this program was built without it, so it runs one rank only",
              "install libopenmpi-dev and openmpi-bin, and build again with -DFOURHOLD_MPI=ON");
}

}  // namespace fourhold::engine

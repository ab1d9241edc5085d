// Ranks as processes started by MPI.
#pragma once

#include <cstdint>
#include <memory>

#include "fourhold/base/units.h"
#include "fourhold/engine/communicator/communicator.h"

namespace fourhold::engine {

struct MpiOptions {
  // How long a rank waits without any of its messages getting on: so long that a job with a rank
  // that hangs is over within a minute.
  Seconds timeout{50};
  // Longer messages travel in several: MPI counts bytes in an int.
  std::int64_t largest_message_bytes = std::int64_t{1} << 30;
};

// Starts MPI. At most once in a process, and by the thread that uses it. A failure ends the job
// when the communicator is destroyed: MPI is then not finished in order, since no rank may wait for
// one that has gone, and the launcher ends the ranks that are left when this process exits. So the
// communicator stands outside of what catches a rank's exceptions, and `fail` is called there.
// Throws Error where the program was built without MPI.
[[nodiscard]] std::unique_ptr<Communicator> mpi_world(const MpiOptions& options = {});

}  // namespace fourhold::engine

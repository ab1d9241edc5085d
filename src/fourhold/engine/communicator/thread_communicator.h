// Ranks as threads of one process: the same collectives without MPI, for tests and for sanitizers.
#pragma once

#include <functional>

#include "fourhold/base/units.h"
#include "fourhold/engine/communicator/communicator.h"

namespace fourhold::engine {

// How long a rank waits without any of its messages getting on.
inline constexpr Seconds kRankTimeout{60};

// Runs body(communicator) once for each rank, each on a thread of its own, and returns when all
// have ended. The first exception of a rank fails the others and is thrown again here, once all
// have ended: a rank that hangs keeps the caller waiting, although the others have given it up.
//
// A message is copied once, by the receiver, while it waits: send() and its wait() never end before
// the receiver has come, as with large messages over MPI.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body,
               Seconds timeout = kRankTimeout);

}  // namespace fourhold::engine

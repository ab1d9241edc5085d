// Bytes that this process handed to MPI, counted at MPI's own profiling interface.
#pragma once

#include <array>
#include <cstdint>

#include "fourhold/engine/communicator/collectives.h"

namespace fourhold::engine {

using BytesOfKind = std::array<std::int64_t, Traffic::kKinds>;

// To other ranks and to this one, in all calls that carry data, since the last question; by the
// kind of collective that the messages' tags tell.
[[nodiscard]] BytesOfKind take_counted_bytes();
// The name of the first call that carries data and is not counted; nullptr if there was none.
[[nodiscard]] const char* uncounted_call();

}  // namespace fourhold::engine

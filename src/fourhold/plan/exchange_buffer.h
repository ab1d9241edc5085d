// What ranks need beside their tensors to exchange them: the written rule of the engine's
// communication buffers (engine/communicator/collectives.h).
#pragma once

#include <algorithm>
#include <cstdint>

namespace fourhold::plan {

// Most of a piece that travels in one message of a sum. Large enough for the bandwidth of a node's
// memory and of a network, small enough to stay in a cache while it is added.
inline constexpr std::int64_t kExchangeChunkBytes = std::int64_t{1} << 18;

// Of a sum over `ranks` >= 1: one chunk of every other rank is added while the next ones arrive.
[[nodiscard]] constexpr std::int64_t exchange_buffer_bytes(std::int64_t ranks) {
  return 2 * (ranks - 1) * kExchangeChunkBytes;
}

}  // namespace fourhold::plan

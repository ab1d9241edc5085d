// Which tensors of a block are kept from forward to backward, and which operations run again.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/recompute_policy.h"
#include "fourhold/plan/sharding.h"

namespace fourhold::plan {

// Operations that run again share a segment when they run again together: the whole layer under
// `full` and `saved`, one contiguous run of a dropped group under `selective`, one all-gather of an
// input.
inline constexpr std::int16_t kNotRemade = -1;

struct RecomputeDecision {
  std::vector<std::uint8_t> kept;     // per tensor, true at the tensor that owns the storage
  std::vector<std::int16_t> segment;  // per operation: its segment, or kNotRemade
};

// Kept storages are exactly those backward or a remade operation reads and no remade one makes.
[[nodiscard]] RecomputeDecision decide_recompute(const ShardedBlock& block,
                                                 const RecomputePolicy& policy);

}  // namespace fourhold::plan

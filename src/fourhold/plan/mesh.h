// Which rank stands where. Ranks are placed tensor fastest, then context, then data, then pipeline.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/plan.h"

namespace fourhold::plan {

// Groups of ranks that communicate. `sharding` is dp x cp, over which ZeRO splits dense state;
// `expert_sharding` is dp x cp / ep; of each, `shard_group` is the part that holds all shards once
// and `shard_replicas` the ranks that hold the same one; `kv_replicas` share one kv head when tp
// exceeds their number; `embedding` is the first and the last stage of a pipeline with a tied
// embedding.
enum class Axis : std::uint8_t {
  tp,
  cp,
  dp,
  pp,
  ep,
  sharding,
  expert_sharding,
  shard_group,
  expert_shard_group,
  shard_replicas,
  expert_shard_replicas,
  kv_replicas,
  embedding,
  world
};

struct Coordinates {
  std::int64_t tp = 0, cp = 0, dp = 0, pp = 0;
  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

[[nodiscard]] Coordinates coordinates(const Plan& plan, std::int64_t rank);
[[nodiscard]] std::int64_t rank_of(const Plan& plan, const Coordinates& at);

// Ranks of the group of `axis` that `rank` belongs to, ascending; {rank} for a degree of one.
// kv_replicas needs the number of kv heads: groups of tp / kv_heads neighbours, or {rank}.
[[nodiscard]] std::vector<std::int64_t> group_of(const Plan& plan, Axis axis, std::int64_t rank,
                                                 std::int64_t kv_heads);
// Size of such a group.
[[nodiscard]] std::int64_t group_size(const Plan& plan, Axis axis, std::int64_t kv_heads);

}  // namespace fourhold::plan

#include "fourhold/plan/mesh.h"

#include <cassert>
#include <cstddef>

namespace fourhold::plan {
namespace {

// A group as an arithmetic progression of ranks: all axes but `embedding` are one.
struct Progression {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 1;
};

std::int64_t kv_replicas(const Plan& plan, std::int64_t kv_heads) {
  const bool replicated = kv_heads > 0 && plan.tp > kv_heads && plan.tp % kv_heads == 0;
  return replicated ? plan.tp / kv_heads : 1;
}

Progression progression(const Plan& plan, Axis axis, const Coordinates& at, std::int64_t rank,
                        std::int64_t kv_heads) {
  const std::int64_t stage = plan.tp * plan.cp * plan.dp;  // ranks of one pipeline stage
  const std::int64_t data = plan.dp * plan.cp;
  const std::int64_t place = at.cp + plan.cp * at.dp;  // within the dp x cp group
  switch (axis) {
    case Axis::tp:
      return {rank - at.tp, 1, plan.tp};
    case Axis::cp:
      return {rank - at.cp * plan.tp, plan.tp, plan.cp};
    case Axis::dp:
      return {rank - at.dp * plan.tp * plan.cp, plan.tp * plan.cp, plan.dp};
    case Axis::pp:
      return {rank - at.pp * stage, stage, plan.pp};
    case Axis::ep:
      return {rank - place % plan.ep * plan.tp, plan.tp, plan.ep};
    case Axis::sharding:
      return {rank - place * plan.tp, plan.tp, data};
    case Axis::expert_sharding:
      return {rank - place / plan.ep * plan.ep * plan.tp, plan.ep * plan.tp, data / plan.ep};
    case Axis::shard_group: {
      const std::int64_t size = data / plan.shard_groups;
      return {rank - place % size * plan.tp, plan.tp, size};
    }
    case Axis::shard_replicas: {
      const std::int64_t size = data / plan.shard_groups;
      return {rank - place / size * size * plan.tp, size * plan.tp, plan.shard_groups};
    }
    case Axis::expert_shard_group: {
      const std::int64_t size = data / plan.ep / plan.shard_groups;
      return {rank - place / plan.ep % size * plan.ep * plan.tp, plan.ep * plan.tp, size};
    }
    case Axis::expert_shard_replicas: {
      const std::int64_t size = data / plan.ep / plan.shard_groups;
      return {rank - place / plan.ep / size * size * plan.ep * plan.tp, size * plan.ep * plan.tp,
              plan.shard_groups};
    }
    case Axis::kv_replicas: {
      const std::int64_t replicas = kv_replicas(plan, kv_heads);
      return {rank - at.tp % replicas, 1, replicas};
    }
    case Axis::embedding: {
      const std::int64_t last = plan.pp - 1;
      if (last == 0 || (at.pp != 0 && at.pp != last)) return {rank, 1, 1};
      return {rank - at.pp * stage, last * stage, 2};
    }
    case Axis::world:
      return {0, 1, plan.devices()};
  }
  return {rank, 1, 1};
}

}  // namespace

Coordinates coordinates(const Plan& plan, std::int64_t rank) {
  assert(rank >= 0 && rank < plan.devices() && "a rank of this plan");
  return {.tp = rank % plan.tp,
          .cp = rank / plan.tp % plan.cp,
          .dp = rank / (plan.tp * plan.cp) % plan.dp,
          .pp = rank / (plan.tp * plan.cp * plan.dp)};
}

std::int64_t rank_of(const Plan& plan, const Coordinates& at) {
  return at.tp + plan.tp * (at.cp + plan.cp * (at.dp + plan.dp * at.pp));
}

std::vector<std::int64_t> group_of(const Plan& plan, Axis axis, std::int64_t rank,
                                   std::int64_t kv_heads) {
  const Progression group = progression(plan, axis, coordinates(plan, rank), rank, kv_heads);
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(group.count));
  for (std::int64_t i = 0; i < group.count; ++i) {
    ranks[static_cast<std::size_t>(i)] = group.first + i * group.step;
  }
  return ranks;
}

std::int64_t group_size(const Plan& plan, Axis axis, std::int64_t kv_heads) {
  // All groups of an axis are equal, but for the middle stages of `embedding`: rank 0 has a full
  // one.
  return progression(plan, axis, {}, 0, kv_heads).count;
}

}  // namespace fourhold::plan

// Who this rank is among the ranks of a run, and with whom it acts.
#pragma once

#include <array>
#include <cstdint>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/communicator/communicator.h"
#include "fourhold/plan/mesh.h"

namespace fourhold::engine {

// A rank's way to the others: none where it is the only one.
struct OwnRank {
  std::int64_t rank = 0;
  Communicator* communicator = nullptr;
};

class ContextRing;

class RankGroups {
 public:
  RankGroups(const plan::Plan& plan, std::int64_t rank);

  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  [[nodiscard]] const plan::Coordinates& at() const { return at_; }
  // Every axis but kv_replicas, whose groups depend on the layer.
  [[nodiscard]] const Group& of(plan::Axis axis) const {
    return groups_[static_cast<std::size_t>(axis)];
  }
  // Of a parameter with that many kv heads.
  [[nodiscard]] Group kv_replicas(std::int64_t kv_heads) const;

  // The rank of the same lane that holds a virtual stage (chunk x pp + stage).
  [[nodiscard]] int holder_of(std::int64_t virtual_stage) const;

 private:
  plan::Plan plan_;
  std::int64_t rank_;
  plan::Coordinates at_;
  std::array<Group, static_cast<std::size_t>(plan::Axis::world) + 1> groups_;
};

// What an operation needs to act together with other ranks.
struct RankContext {
  const RankGroups* groups = nullptr;
  Collectives* collectives = nullptr;  // null on the only rank
  const ContextRing* ring = nullptr;   // of the ranks that share sequences; null without
};

}  // namespace fourhold::engine

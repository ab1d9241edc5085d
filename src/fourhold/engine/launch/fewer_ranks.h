// The same training on fewer ranks: what is left when a host is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/plan/plan.h"

namespace fourhold::engine {

// The plan with the most replicas, fewer than it has, that `ranks` ranks can run: each micro-batch
// stays as it is, and grad_accum grows so that the global batch stays. Nothing where no number of
// replicas allows that (micro-batches that do not divide, experts that have no ranks to lie on, a
// pipeline whose chunks need full rounds) or leaves ZeRO-2 and 3 nothing to shard over.
[[nodiscard]] std::optional<plan::Plan> plan_for_ranks(const plan::Plan& plan, std::int64_t ranks);

// train's words with these replicas, whatever they said of them before.
void set_replicas(std::vector<std::string>& words, const plan::Plan& plan);

}  // namespace fourhold::engine

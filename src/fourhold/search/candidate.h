// One candidate of the space, and the order of ties.
#pragma once

#include <cstdint>

#include "fourhold/plan/plan.h"
#include "fourhold/search/space.h"

namespace fourhold::search {

// `recompute` is an index into Space::recomputes(outer): none, selective, full, full:1 ... or none,
// full, minimal ...
struct Candidate {
  OuterTuple outer;
  std::int64_t vpp = 1;
  int zero = 0;
  std::int64_t micro_batch = 1;
  std::int64_t recompute = 0;
  plan::Offload offload = plan::Offload::none;
};

// Tuple order (tp, pp, vpp, cp, ep, zero, micro_batch, recompute, offload): the first of equal
// plans wins.
[[nodiscard]] bool operator<(const Candidate& a, const Candidate& b);

[[nodiscard]] plan::Plan plan_of(const Candidate& candidate, const Space& space);

}  // namespace fourhold::search

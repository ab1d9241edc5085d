#include "fourhold/search/candidate.h"

#include <tuple>

namespace fourhold::search {

bool operator<(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& c) {
    return std::tuple{c.outer.tp,    c.outer.pp,  c.vpp,
                      c.outer.cp,    c.outer.ep,  c.zero,
                      c.micro_batch, c.recompute, static_cast<int>(c.offload)};
  };
  return key(a) < key(b);
}

plan::Plan plan_of(const Candidate& candidate, const Space& space) {
  return space.plan(
      candidate.outer, candidate.vpp, candidate.zero, candidate.micro_batch,
      space.recomputes(candidate.outer)[static_cast<std::size_t>(candidate.recompute)],
      candidate.offload);
}

}  // namespace fourhold::search

// What one rank sends in a step, collective by collective: what the engine's counters must show.
#pragma once

#include <array>
#include <cstdint>

#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"

namespace fourhold::predict {

struct TrafficCount {
  std::int64_t calls = 0;
  std::int64_t steps = 0;
  std::int64_t bytes = 0;
};

struct RankTraffic {
  static constexpr std::size_t kKinds =
      static_cast<std::size_t>(plan::Collective::send_receive) + 1;
  std::array<TrafficCount, kKinds> of_kind{};

  [[nodiscard]] const TrafficCount& of(plan::Collective kind) const {
    return of_kind[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::int64_t bytes() const;
};

// Of one rank, under a (valid) plan of profile fourhold: every step of its program (plan/expand.h)
// with the payload it states, by direct exchange of pieces (plan::piece_of), so that over a group's
// ranks it is what collectives.h says on the average: of E elements in pieces e of one member each,
// member j of n sends e_j (n - 1) in an all-gather, E - e_j in a reduce-scatter, and both in an
// all-reduce. Parameters travel one by one, in the types in which they are stored; a chunked loss
// over a split vocabulary exchanges its numbers chunk by chunk; and once a step, before anything is
// written, all ranks agree.
[[nodiscard]] RankTraffic rank_traffic(const model::ModelConfig& config, const plan::Plan& plan,
                                       const plan::Profile& profile, std::int64_t rank);

}  // namespace fourhold::predict

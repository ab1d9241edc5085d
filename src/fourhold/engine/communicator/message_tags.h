// Which tag the messages of which collective bear. Ranks call collectives of one kind in one order,
// so that one tag each will do; and whoever counts at MPI's own calls sees of which kind they are.
#pragma once

#include "fourhold/plan/sharding.h"

namespace fourhold::engine {

// Of every kind but send_receive, whose tags are Collectives::send()'s.
[[nodiscard]] constexpr int tag_of(plan::Collective kind) { return static_cast<int>(kind); }

inline constexpr int kMeasureTag = 15;
// Tags of Collectives::send() begin here; MPI has tags up to 32767 everywhere.
inline constexpr int kFirstSendTag = 16;
inline constexpr int kSendTags = 30001;

}  // namespace fourhold::engine

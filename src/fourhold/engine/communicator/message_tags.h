// Which tag the messages of which collective bear. Ranks call collectives of one kind in one order,
// so that one tag each will do.
#pragma once

namespace fourhold::engine {

inline constexpr int kExchangeTag = 1;
inline constexpr int kGatherTag = 2;
inline constexpr int kScalarTag = 3;
inline constexpr int kRingTag = 4;
inline constexpr int kMeasureTag = 5;
// Tags of Collectives::send() begin here; MPI has tags up to 32767 everywhere.
inline constexpr int kFirstSendTag = 16;
inline constexpr int kSendTags = 30001;

}  // namespace fourhold::engine

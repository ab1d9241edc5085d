// How state enters and leaves a rank: piece by piece, so that a tensor costs one small buffer
// beside itself however large it is.
#pragma once

#include <cstdint>

#include "fourhold/plan/expand.h"
#include "fourhold/predict/state.h"

namespace fourhold::predict {

// The largest piece. Large enough for the bandwidth of disks and links, small beside any state.
inline constexpr std::int64_t kMostPieceBytes = std::int64_t{16} << 20;

// What makes this tensor: fill_weight a weight, its scales and its master copy, zero_state the
// rest.
[[nodiscard]] plan::Work maker_of(const ResidentTensor& tensor);

// Where the rank's part of the weight lies; the pieces lie there too.
[[nodiscard]] ledger::Place weight_place(const ParameterState& state);

// Work::fill_weight: values of the rank's part of the weight in fp32, the widest type a checkpoint
// stores and the one random values are made in. Each piece is cast into the weight and into the
// master copy, so nothing is ever gathered or held twice.
[[nodiscard]] std::int64_t fill_piece_bytes(const ParameterState& state);

// Work::write_state: one tensor after the other, in the types they have; of a weight that replicas
// share (ZeRO 0 to 2), the slice whose update is this rank's.
[[nodiscard]] std::int64_t write_piece_bytes(const ParameterState& state);

}  // namespace fourhold::predict

// One random collective of the suite.
#pragma once

#include <cstdint>

#include "fourhold/engine/communicator/collectives.h"
#include "tests/engine/communicator/suite_data.h"

namespace fourhold::engine {

// Every rank makes all draws, so that all know the same case; groups are all of one case's.
struct Case {
  std::uint64_t seed = 0;
  Group group;  // of this rank
  std::int64_t elements = 0;
  DType type = DType::fp32;
  DType own_type = DType::fp32;
  Sum sum = Sum::replace;
  bool in_place = false;
  std::int64_t longer = 0;  // elements of `own` behind its piece
};

// With long tensors some have several chunks in each piece.
[[nodiscard]] Case draw_case(Draws& draws, int ranks, int rank, bool long_tensors);

}  // namespace fourhold::engine

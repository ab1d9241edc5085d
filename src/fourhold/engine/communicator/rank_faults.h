// The words for what goes wrong between ranks, the same for every way of messages.
#pragma once

#include <cstddef>
#include <vector>

#include "fourhold/base/units.h"
#include "fourhold/engine/communicator/communicator.h"

namespace fourhold::engine {

// `missing`: the ranks whose messages `rank` waits for, in any order, perhaps several times; at
// least one.
[[nodiscard]] Failure no_answer(std::vector<int> missing, int rank, Seconds timeout);

// Of a message from `peer` to `rank`.
[[nodiscard]] Error wrong_size(int rank, int peer, std::size_t sent_bytes,
                               std::size_t expected_bytes);

}  // namespace fourhold::engine

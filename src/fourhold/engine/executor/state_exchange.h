// How weights and gradients move between the ranks that share a parameter.
#pragma once

#include <cstdint>
#include <span>

#include "fourhold/engine/communicator/collectives.h"
#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

enum class Motion : std::uint8_t {
  gather_shard,   // whole becomes what all ranks' shards are
  gather_pieces,  // whole becomes what each rank has in its own piece of it
  reduce_shard,   // shard becomes, or is added, this rank's piece of the sum of all wholes
  reduce_pieces,  // the same, the shard being that piece of whole
  sum,            // whole becomes the sum of all wholes
};

// Of one parameter; tensors are flat. Made once when a run is prepared.
struct ParameterMotion {
  Motion motion = Motion::sum;
  Group group;
  Tensor whole;
  Tensor shard;
  Sum into = Sum::replace;
  // A gradient that forwards of other micro-batches have added to: it lives on, and what has been
  // handed on must not be so again.
  bool clear_whole = false;
};

// In a group of one nothing travels; a shard of its own is copied or added to. `collectives` is
// null on the only rank. A shard's gather is started: whole is there after
// Collectives::finish_gathers().
void move_parameter(const ParameterMotion& motion, Collectives* collectives,
                    const Execution& execution);

}  // namespace fourhold::engine

#include "fourhold/engine/executor/state_exchange.h"

#include <cassert>

#include "fourhold/engine/kernels/elementwise.h"

namespace fourhold::engine {
namespace {

// The only rank of a group owns all.
void move_alone(const ParameterMotion& motion, const Execution& execution) {
  switch (motion.motion) {
    case Motion::gather_shard:
      return cast(motion.shard, motion.whole, execution);
    case Motion::reduce_shard:
      if (motion.into == Sum::replace) return cast(motion.whole, motion.shard, execution);
      return accumulate(motion.whole, motion.shard, execution);
    case Motion::gather_pieces:
    case Motion::reduce_pieces:
    case Motion::sum:
      return;
  }
}

void move_together(const ParameterMotion& motion, Collectives& collectives) {
  switch (motion.motion) {
    case Motion::gather_shard:
      return collectives.start_all_gather(motion.group, motion.shard, motion.whole);
    case Motion::gather_pieces:
      return collectives.all_gather(motion.group, motion.whole);
    case Motion::reduce_shard:
    case Motion::reduce_pieces:
      return collectives.reduce_scatter(motion.group, motion.whole, motion.shard, motion.into);
    case Motion::sum:
      return collectives.all_reduce(motion.group, motion.whole);
  }
}

}  // namespace

void move_parameter(const ParameterMotion& motion, Collectives* collectives,
                    const Execution& execution) {
  if (motion.group.size() == 1) {
    move_alone(motion, execution);
  } else {
    assert(collectives != nullptr && "a group of several has ranks to exchange with");
    move_together(motion, *collectives);
  }
  if (motion.clear_whole) fill_zero(motion.whole, execution);
}

}  // namespace fourhold::engine

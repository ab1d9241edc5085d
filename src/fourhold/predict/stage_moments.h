// The moments of one stage's schedule at which most bytes can be alive, in counts of whole blocks:
// no bytes, so that one walk serves every micro-batch size and every way to store the state.
//
// A run of equal layers is one move: what is alive grows or shrinks by the same bytes at each, so
// its extremes lie at its ends.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/plan/profile.h"
#include "fourhold/plan/program.h"
#include "fourhold/predict/slot_states.h"

namespace fourhold::predict {

enum class Moment : std::uint8_t { forward, backward, reduce_block, optimizer };

// The block at work, and what of its gradients exists.
struct StageMoment {
  Moment moment = Moment::forward;
  std::int16_t block = -1;          // at work, -1 at the optimizer step
  std::int16_t gathered_next = -1;  // block gathered ahead, -1 none
  std::int32_t micro_batch = -1;
  std::int32_t layer = -1;                 // global layer at work, -1 outside layers
  bool first_backward = false;             // the block's gradients are only now coming to life
  bool forward_gradients_waiting = false;  // those of a chunked loss, made before this moment
};

// What is alive beside the block at work, per block of ProgramBlocks.
struct AliveCounts {
  std::vector<std::int64_t> kept;  // instances whose kept tensors are all alive
  std::vector<std::int64_t> born;  // instances whose gradients are alive, if these are not
                                   // persistent
};

class MomentVisitor {
 public:
  virtual void visit(const StageMoment& moment, const AliveCounts& alive) = 0;

 protected:
  ~MomentVisitor() = default;
};

// A stage as its moments depend on it.
struct MomentInput {
  const std::vector<plan::Chunk>* chunks = nullptr;
  const plan::ProgramBlocks* blocks = nullptr;
  plan::StateMotion motion;
  plan::GradientLifetime gradient_lifetime = plan::GradientLifetime::persistent;
};

// Visits the moments of these slots in order, the optimizer step last.
void visit_moments(const MomentInput& stage, const SlotStates& slots, MomentVisitor& visitor);

}  // namespace fourhold::predict

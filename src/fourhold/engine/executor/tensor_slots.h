// Every tensor of one rank's run, found by walking its program: what the executor asks the arena
// for, and what it later measures.
//
// Nothing here reads the predicted ledger. A slot's type and shape are those of the operands that
// the program's description states; its name is that of the ledger's keys (ledger/key.h), so that
// both can be compared entry by entry.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fourhold/base/dims.h"
#include "fourhold/base/dtype.h"
#include "fourhold/ledger/category.h"
#include "fourhold/ledger/key.h"
#include "fourhold/plan/expand.h"
#include "fourhold/plan/program.h"
#include "fourhold/plan/step_scalars.h"

namespace fourhold::engine {

using SlotId = std::int32_t;
inline constexpr SlotId kNoSlot = -1;

// Places in ProgramSlots::scalars, in the order of plan::kStepScalars.
inline constexpr std::size_t kTokenCount = 0;
inline constexpr std::size_t kLossSum = 1;
inline constexpr std::size_t kGradientNorm = 2;

struct TensorSlot {
  ledger::Key key;
  ledger::Category category = ledger::Category::other;
  DType dtype = DType::fp32;
  Dims dims;
  std::int64_t first_step = -1;  // where the program first uses it; -1 for state

  // Weights, master copies, moments, communication buffers: there in every step.
  [[nodiscard]] bool is_state() const { return first_step < 0; }
};

// What a rank has of one parameter; kNoSlot for what the recipe or the plan lacks. Of a tied head
// beside its embedding all but the gradients are the embedding's.
struct ParameterSlots {
  SlotId weight = kNoSlot;  // under ZeRO-3 the rank's slice
  SlotId master = kNoSlot;
  SlotId moment1 = kNoSlot;
  SlotId moment2 = kNoSlot;
  SlotId gradient = kNoSlot;  // under ZeRO-2 and 3 the rank's slice
  // At the step that is walked: the whole weight (ZeRO-3), and the block's whole gradient before it
  // is reduced (ZeRO-2 and 3).
  SlotId gathered = kNoSlot;
  SlotId whole_gradient = kNoSlot;

  [[nodiscard]] SlotId used_weight() const { return gathered != kNoSlot ? gathered : weight; }
  [[nodiscard]] SlotId made_gradient() const {
    return whole_gradient != kNoSlot ? whole_gradient : gradient;
  }
};

// A parameter at its place in the model, once for each storage.
struct TrainedParameter {
  std::int16_t block = -1;
  std::int32_t layer = plan::StepInstance::kNone;
  std::int16_t parameter = -1;  // index into the block's
  ParameterSlots slots;
};

// One step of the program with the slots of its operands.
struct WalkedStep {
  plan::StepInstance at;
  std::vector<SlotId> accesses;  // compute: in the order of Step::accesses
  std::vector<SlotId> inputs;    // load_ids, load_targets; what is received or sent
  // Of the block instance, by index: compute, and what moves weights and gradients.
  std::vector<ParameterSlots> parameters;
};

// A buffer of plan/communication_buffers.h, kNoSlot where the stage has none.
struct BufferSlots {
  SlotId exchange = kNoSlot;
  SlotId activation_send = kNoSlot;
  SlotId gradient_send = kNoSlot;
};

struct ProgramSlots {
  std::vector<TensorSlot> slots;
  std::array<SlotId, plan::kStepScalars.size()> scalars{};  // in their order
  BufferSlots buffers;
  std::vector<WalkedStep> steps;
  std::vector<TrainedParameter> parameters;  // in the order of blocks
};

// Walks a train_step program of one rank. `blocks` must outlive the result.
[[nodiscard]] ProgramSlots walk_program(const plan::Program& program,
                                        const plan::ProgramBlocks& blocks);

}  // namespace fourhold::engine

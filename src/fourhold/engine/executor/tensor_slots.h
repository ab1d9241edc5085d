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

  // Weights, master copies, moments: there in every step.
  [[nodiscard]] bool is_state() const { return first_step < 0; }
};

// What a rank keeps of one parameter from step to step; kNoSlot for what the recipe lacks. Of a
// tied head all but the gradient are the embedding's.
struct ParameterSlots {
  SlotId weight = kNoSlot;
  SlotId master = kNoSlot;
  SlotId moment1 = kNoSlot;
  SlotId moment2 = kNoSlot;
  SlotId gradient = kNoSlot;
};

// A parameter at its place in the model, once for each storage.
struct TrainedParameter {
  std::int16_t block = -1;
  std::int32_t layer = plan::StepInstance::kNone;
  std::int16_t parameter = -1;  // index into the block's
  ParameterSlots slots;
};

// One step of the program with the slots of its operands, in the order of Step::accesses.
struct WalkedStep {
  plan::StepInstance at;
  std::vector<SlotId> accesses;            // compute
  std::vector<SlotId> inputs;              // load_ids, load_targets
  std::vector<ParameterSlots> parameters;  // compute: of the block instance, by index
};

struct ProgramSlots {
  std::vector<TensorSlot> slots;
  std::array<SlotId, plan::kStepScalars.size()> scalars{};  // in their order
  std::vector<WalkedStep> steps;
  std::vector<TrainedParameter> parameters;  // in the order of blocks
};

// Walks a train_step program of one rank. `blocks` must outlive the result.
[[nodiscard]] ProgramSlots walk_program(const plan::Program& program,
                                        const plan::ProgramBlocks& blocks);

}  // namespace fourhold::engine

// The program: what one rank does in one step, in order. Memory walks its lifetimes, time prices
// its steps, the executor runs them; nothing else describes a run.
//
// Blocks of equal shape share one ProgramBlock; a step of the run is a block's step at one layer
// and one micro-batch, and plan/expand.h lists them all.
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/base/inline_vector.h"
#include "fourhold/base/units.h"
#include "fourhold/ledger/category.h"
#include "fourhold/ledger/key.h"
#include "fourhold/plan/schedule.h"
#include "fourhold/plan/sharding.h"

namespace fourhold::plan {

// A tensor of a block: a value (same index as in the operation list), the gradient of one, or
// memory inside one step. Tensors whose `storage` is another's share its bytes.
struct ProgramTensor {
  model::TensorName name = model::TensorName::hidden_states;
  model::Variant variant = model::Variant::plain;
  ledger::Role role = ledger::Role::value;
  ledger::Category category = ledger::Category::scratch;
  DType dtype = DType::bf16;
  std::int16_t storage = -1;      // index of the tensor that owns the bytes; its own if it does
  std::int16_t gradient_of = -1;  // the value whose gradient this is, -1 of none
  bool kept = false;              // owner: lives from forward to backward
  bool offloaded = false;         // owner: lies in host memory from forward to backward
  std::int32_t layer = model::kOfBlock;  // of multi-token prediction
  model::Shape shape;                    // local
};

enum class AccessMode : std::uint8_t {
  read,
  write,       // every element is written
  accumulate,  // added to what is there
  append,      // rows are written behind those that are there, and all are read
};

struct Access {
  std::int16_t tensor = -1;
  AccessMode mode = AccessMode::read;
};

enum class Phase : std::uint8_t { forward, recompute, backward };

// One operation run in one phase.
struct Step {
  Phase phase = Phase::forward;
  std::int16_t operation = -1;  // index into the block's operations
  OperationCollective collective;
  std::int64_t payload_bytes = 0;  // local bytes handed to the collective
  InlineVector<Access, 12> accesses;
  InlineVector<std::int16_t, 2> reads_parameters;
  InlineVector<std::int16_t, 2> writes_gradients;  // parameters whose gradient it accumulates
};

// One kind of block on a rank of this plan: its tensors and its steps in both directions.
struct ProgramBlock {
  ShardedBlock sharded;
  std::vector<ProgramTensor> tensors;
  std::vector<Step> forward;
  std::vector<Step> backward;         // recompute steps stand among them
  std::int16_t input = -1;            // value entering from the block before
  std::int16_t output = -1;           // value leaving to the next block; the loss of the head
  std::int16_t output_gradient = -1;  // gradient entering backward, -1 for the head
  std::int16_t input_gradient = -1;   // gradient leaving backward, -1 for the embedding
};

// All kinds of blocks a plan needs, shared by its stages.
struct ProgramBlocks {
  std::vector<ProgramBlock> blocks;
  std::int16_t embedding = -1;
  std::int16_t head = -1;
  // Layers by kind, under the plan's policy; under full:K also those past the first K.
  std::vector<std::int16_t> layer_of_kind;
  std::vector<std::int16_t> plain_layer_of_kind;  // same indices unless full:K
};

// Layers a stage runs as one piece: the virtual stage's share of the model.
struct Chunk {
  bool embedding = false;
  bool head = false;
  std::int64_t first_layer = 0;
  std::vector<std::int16_t> layer_blocks;  // per layer: index into ProgramBlocks::blocks
};

enum class ProgramKind : std::uint8_t {
  train_step,
  evaluate,  // the forwards alone, with their loss
  start,     // weights made or read, master copies filled, optimizer state zeroed
  save,      // each rank writes the state it owns
  sample,    // one pass over new tokens of a text (lower_sample.h)
};

// What weights and gradients do around a block, decided once for the plan.
struct StateMotion {
  bool gathers_blocks = false;      // whole weights exist only around a block's use
  bool reduces_each_block = false;  // a block's gradient is reduced right after its backward
};

[[nodiscard]] StateMotion motion_of(const Plan& plan, const Recipe& recipe);

struct Program {
  ProgramKind kind = ProgramKind::train_step;
  Plan plan;
  Recipe recipe;
  StateMotion motion;
  std::int64_t stage = 0;
  std::vector<Chunk> chunks;
  std::int32_t pass = 0;  // sample: which one; it stands where others have the micro-batch
};

// Lowers one block: forward steps, and backward steps derived from them in reverse.
[[nodiscard]] ProgramBlock lower_block(ShardedBlock block, const RecomputePolicy& policy);

// Lowers every kind of block of the model under a (valid) plan.
[[nodiscard]] ProgramBlocks lower_blocks(const model::ModelConfig& config, const Plan& plan,
                                         const Profile& profile);

// The program of one pipeline stage. All ranks of a stage run the same one.
[[nodiscard]] Program lower(const model::ModelConfig& config, const ProgramBlocks& blocks,
                            const Plan& plan, const Profile& profile, std::int64_t stage,
                            ProgramKind kind);

}  // namespace fourhold::plan

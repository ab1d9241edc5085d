// From a plan to its blocks, and from blocks to the program of one stage.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/plan/engine_scratch.h"
#include "fourhold/plan/product_operands.h"
#include "fourhold/plan/program.h"
#include "fourhold/plan/validate.h"

namespace fourhold::plan {
namespace {

// Makes the blocks of one plan.
class ModelLowering {
 public:
  ModelLowering(const model::ModelConfig& config, const Plan& plan, const Profile& profile)
      : plan_(plan), profile_(profile), degrees_(degrees_of(plan, config, profile)) {}

  // Adds a block and returns its index.
  std::int16_t add(model::BlockOperations operations, const RecomputePolicy& policy,
                   ProgramBlocks& to) const {
    ShardedBlock block = shard(std::move(operations), degrees_);
    if (profile_.kernel_scratch == KernelScratch::engine) add_kernel_scratch(block, plan_);
    to.blocks.push_back(lower_block(std::move(block), policy));
    return static_cast<std::int16_t>(to.blocks.size() - 1);
  }

 private:
  const Plan& plan_;
  const Profile& profile_;
  ShardingDegrees degrees_;
};

}  // namespace

StateMotion motion_of(const Plan& plan, const Recipe& recipe) {
  return {.gathers_blocks =
              plan.zero == 3 || plan.offload == Offload::all || recipe.weight != recipe.gathered,
          .reduces_each_block = plan.zero >= 2 || plan.offload == Offload::optimizer_gradients ||
                                plan.offload == Offload::all};
}

namespace {

// What enters the layer leaves the device after its forward and comes back for its backward.
void offload_input(ProgramBlock& block) {
  const std::int16_t owner = block.tensors[static_cast<std::size_t>(block.input)].storage;
  ProgramTensor& input = block.tensors[static_cast<std::size_t>(owner)];
  input.kept = false;
  input.offloaded = true;
}

// Products in fp8 read their operands in that format, in backward as in forward.
void keep_operands_in_fp8(ProgramBlock& block) {
  const std::vector<std::uint8_t> operand = product_operands(block.sharded.operations);
  for (ProgramTensor& tensor : block.tensors) {
    const auto owner = static_cast<std::size_t>(tensor.storage);
    if (owner < operand.size() && operand[owner] != 0 && block.tensors[owner].kept) {
      tensor.dtype = DType::fp8;
    }
  }
}

ProgramBlocks lower_all(const model::ModelConfig& config, const Plan& plan,
                        const Profile& profile) {
  const model::BatchSizes sizes{.micro_batch = plan.micro_batch, .seq = plan.seq};
  const model::Switches switches = switches_of(plan, profile);
  const ModelLowering lowering(config, plan, profile);
  const RecomputePolicy none;
  ProgramBlocks blocks;
  blocks.blocks.reserve(config.kinds.size() + 2);
  blocks.embedding =
      lowering.add(model::embedding_operations(config, sizes, switches), none, blocks);
  const bool partly = plan.recompute.kind == RecomputeKind::full && plan.recompute.full_layers >= 0;
  for (std::size_t kind = 0; kind < config.kinds.size(); ++kind) {
    model::BlockOperations operations =
        model::layer_operations(config, static_cast<std::int32_t>(kind), sizes, switches);
    if (partly) {
      blocks.plain_layer_of_kind.push_back(lowering.add(operations, none, blocks));
    }
    blocks.layer_of_kind.push_back(lowering.add(std::move(operations), plan.recompute, blocks));
    if (!partly) blocks.plain_layer_of_kind.push_back(blocks.layer_of_kind.back());
  }
  const bool in_fp8 = recipe_of(plan, profile).fp8_layer_weights;
  for (ProgramBlock& block : blocks.blocks) {
    if (block.sharded.operations.block != model::Block::layer) continue;
    if (in_fp8) keep_operands_in_fp8(block);
    if (plan.activation_offload == ActivationOffload::residual) offload_input(block);
  }
  // A selective policy drops what it names in the head too (its norm); full keeps the head whole,
  // but for layers of multi-token prediction. Those are none of the first K.
  blocks.head = lowering.add(model::head_operations(config, sizes, switches),
                             partly ? none : plan.recompute, blocks);
  return blocks;
}

}  // namespace

ProgramBlocks lower_blocks(const model::ModelConfig& config, const Plan& plan,
                           const Profile& profile) {
  try {
    return lower_all(config, plan, profile);
  } catch (const Error& fault) {
    if (fault.where() != kSizeFault) throw;
    refuse_size(plan);
  }
}

Program lower(const model::ModelConfig& config, const ProgramBlocks& blocks, const Plan& plan,
              const Profile& profile, std::int64_t stage, ProgramKind kind) {
  Program program;
  program.kind = kind;
  program.plan = plan;
  program.recipe = recipe_of(plan, profile);
  program.motion = motion_of(plan, program.recipe);
  program.stage = stage;
  const std::int64_t virtual_stages = plan.pp * plan.vpp;
  std::int64_t first_layer = 0;
  std::int64_t on_rank = 0;
  std::int64_t before = 0;  // virtual stages whose layers are in first_layer
  for (std::int64_t virtual_stage = stage; virtual_stage < virtual_stages;
       virtual_stage += plan.pp) {
    for (; before < virtual_stage; ++before) {
      first_layer += plan.layers_per_stage[static_cast<std::size_t>(before)];
    }
    const std::int64_t count = plan.layers_per_stage[static_cast<std::size_t>(virtual_stage)];
    Chunk chunk;
    chunk.embedding = virtual_stage == 0;
    chunk.head = virtual_stage == virtual_stages - 1;
    chunk.first_layer = first_layer;
    chunk.layer_blocks.reserve(static_cast<std::size_t>(count));
    for (std::int64_t layer = first_layer; layer < first_layer + count; ++layer, ++on_rank) {
      const auto layer_kind =
          static_cast<std::size_t>(config.layers[static_cast<std::size_t>(layer)]);
      const bool plain = policy_of_layer(plan.recompute, on_rank).kind == RecomputeKind::none;
      chunk.layer_blocks.push_back(plain ? blocks.plain_layer_of_kind[layer_kind]
                                         : blocks.layer_of_kind[layer_kind]);
    }
    program.chunks.push_back(std::move(chunk));
  }
  return program;
}

}  // namespace fourhold::plan

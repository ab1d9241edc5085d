#include "fourhold/predict/framework_buffers.h"

#include <algorithm>

#include "fourhold/base/checked.h"
#include "fourhold/plan/product_operands.h"

namespace fourhold::predict {
namespace {

using ledger::Category;

struct StageView {
  const plan::Program& program;
  const plan::ProgramBlocks& blocks;
  const std::vector<std::int64_t>& instances;

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    for (std::size_t i = 0; i < instances.size(); ++i) {
      if (instances[i] > 0) visit(blocks.blocks[i]);
    }
  }
  [[nodiscard]] bool has_experts() const {
    bool found = false;
    for_each_block([&found](const plan::ProgramBlock& block) {
      for (const plan::LocalParameter& parameter : block.sharded.parameters) {
        found |= parameter.expert;
      }
    });
    return found;
  }
  [[nodiscard]] bool is_first() const {
    return instances[static_cast<std::size_t>(blocks.embedding)] > 0;
  }
  [[nodiscard]] bool is_last() const {
    return instances[static_cast<std::size_t>(blocks.head)] > 0;
  }
};

void add_workspaces(const plan::Profile& profile, const StageView& stage,
                    std::vector<StageTensor>& tensors) {
  if (profile.product_workspaces == plan::ProductWorkspaces::none) return;
  constexpr std::int64_t kThreads = 2;  // forward and backward
  const auto add = [&tensors](std::string_view name, std::int64_t bytes, std::int64_t copies) {
    tensors.push_back({.name = name,
                       .category = Category::scratch,
                       .dtype = DType::uint8,
                       .elements = bytes,
                       .copies = copies});
  };
  add(kProductWorkspace,
      profile.cublas_workspace_bytes > 0 ? profile.cublas_workspace_bytes
                                         : profile.workspaces.cublas,
      kThreads);
  if (profile.product_workspaces != plan::ProductWorkspaces::transformer_engine) return;
  const std::int64_t grouped = stage.has_experts() ? profile.grouped_workspaces : 0;
  add("engine_workspace", profile.workspaces.engine, 1 + grouped);
}

void add_mask(const StageView& stage, std::vector<StageTensor>& tensors) {
  if (!stage.is_first() && !stage.is_last()) return;
  const plan::Plan& plan = stage.program.plan;
  tensors.push_back(
      {.name = "batch_mask",
       .category = Category::input,
       .dtype = DType::boolean,
       .elements = checked_multiply(plan.micro_batch * (plan.seq / plan.cp), plan.seq),
       .grows_with_batch = true});
}

void add_score_buffer(const StageView& stage, std::vector<StageTensor>& tensors) {
  StageTensor buffer{
      .name = "score_buffer", .category = Category::scratch, .grows_with_batch = true};
  stage.for_each_block([&buffer](const plan::ProgramBlock& block) {
    for (const plan::ProgramTensor& tensor : block.tensors) {
      if (tensor.name != model::TensorName::scores) continue;
      buffer.dtype = tensor.dtype;
      buffer.elements = std::max(buffer.elements, tensor.shape.elements());
    }
  });
  if (buffer.elements > 0) tensors.push_back(buffer);
}

void add_borders(const StageView& stage, std::vector<StageTensor>& tensors) {
  const plan::Plan& plan = stage.program.plan;
  if (plan.pp == 1) return;
  const bool interleaved = plan.vpp > 1;
  if (!interleaved && stage.is_first()) return;  // sends no gradient
  StageTensor border{
      .name = "stage_border", .copies = interleaved ? 3 : 1, .grows_with_batch = true};
  stage.for_each_block([&](const plan::ProgramBlock& block) {
    if (block.input < 0 || block.sharded.operations.block != model::Block::layer) return;
    const plan::ProgramTensor& stream = block.tensors[static_cast<std::size_t>(block.input)];
    border.dtype = stream.dtype;
    border.elements = stream.shape.elements();
  });
  if (border.elements > 0) tensors.push_back(border);
}

// Operands that are kept in fp8 are made in 16 bits, in buffers that all layers share.
void add_operand_buffers(const StageView& stage, std::vector<StageTensor>& tensors) {
  StageTensor buffer{
      .name = "operand_buffers", .category = Category::scratch, .grows_with_batch = true};
  stage.for_each_block([&buffer](const plan::ProgramBlock& block) {
    if (block.sharded.operations.block != model::Block::layer) return;
    const std::vector<std::uint8_t> operand = plan::product_operands(block.sharded.operations);
    std::int64_t elements = 0;
    for (std::size_t i = 0; i < operand.size(); ++i) {
      if (operand[i] != 0) elements += block.tensors[i].shape.elements();
    }
    buffer.elements = std::max(buffer.elements, elements);
  });
  if (buffer.elements > 0) tensors.push_back(buffer);
}

}  // namespace

void add_framework_buffers(const plan::Profile& profile, const plan::Program& program,
                           const plan::ProgramBlocks& blocks,
                           const std::vector<std::int64_t>& instances,
                           std::vector<StageTensor>& tensors) {
  const StageView stage{program, blocks, instances};
  add_workspaces(profile, stage, tensors);
  if (program.recipe.fp8_layer_weights) add_operand_buffers(stage, tensors);
  if (profile.batch_mask == plan::BatchMask::dense) add_mask(stage, tensors);
  if (profile.score_buffer == plan::ScoreBuffer::persistent) add_score_buffer(stage, tensors);
  if (profile.stage_borders == plan::StageBorders::held) add_borders(stage, tensors);
}

}  // namespace fourhold::predict

#include "fourhold/predict/stage_model.h"

#include <algorithm>
#include <cmath>

#include "fourhold/plan/communication_buffers.h"
#include "fourhold/plan/step_scalars.h"
#include "fourhold/predict/dummy_gradients.h"
#include "fourhold/predict/framework_buffers.h"

namespace fourhold::predict {
namespace {

using ledger::Category;
using ledger::Place;
using ledger::Role;

Alive alive_of(plan::ScalarLife life) {
  return life == plan::ScalarLife::norm_to_clip ? Alive::norm_to_clip : Alive::count_to_loss;
}

bool copies_gradients(plan::GradientCopy copy, const plan::Program& program) {
  switch (copy) {
    case plan::GradientCopy::none:
      break;
    case plan::GradientCopy::data_parallel:
      return program.plan.dp * program.plan.cp > 1 && !program.motion.reduces_each_block;
    case plan::GradientCopy::whole_optimizer:
      return program.plan.dp * program.plan.cp > 1 && program.plan.zero == 0;
    case plan::GradientCopy::beside_fp32:
      return program.recipe.gradient != program.recipe.gathered;
  }
  return false;
}

}  // namespace

StageModel::StageModel(const model::ModelConfig& config, const plan::ProgramBlocks& blocks,
                       const std::vector<BlockLifetimes>& lifetimes, const plan::Plan& plan,
                       const plan::Profile& profile, std::int64_t stage)
    : blocks_(blocks),
      program_(plan::lower(config, blocks, plan, profile, stage, plan::ProgramKind::train_step)) {
  const TiedCopy tied = tied_copy(plan, blocks);
  states_.reserve(blocks.blocks.size());
  bytes_.blocks.reserve(blocks.blocks.size());
  for (std::size_t i = 0; i < blocks.blocks.size(); ++i) {
    states_.push_back(block_state(blocks.blocks[i], program_, tied));
    bytes_.blocks.push_back(
        block_bytes(lifetimes[i], states_[i], program_.motion, profile.gradient_lifetime));
    bytes_.waiting_bytes += bytes_.blocks.back().forward_births;
  }
  input_.walk.program = &program_;
  input_.walk.blocks = &blocks;
  input_.walk.lifetimes = &lifetimes;
  input_.walk.states = &states_;
  input_.walk.bytes = &bytes_;
  input_.walk.gradient_lifetime = profile.gradient_lifetime;
  count_instances();
  sum_totals();
  add_buffers(profile);
  sum_static_bytes();
}

void StageModel::count_instances() {
  input_.instances.assign(blocks_.blocks.size(), 0);
  input_.first_layer.assign(blocks_.blocks.size(), -1);
  for (const plan::Chunk& chunk : program_.chunks) {
    if (chunk.embedding) ++input_.instances[static_cast<std::size_t>(blocks_.embedding)];
    if (chunk.head) ++input_.instances[static_cast<std::size_t>(blocks_.head)];
    std::int64_t layer = chunk.first_layer;
    for (const std::int16_t block : chunk.layer_blocks) {
      ++input_.instances[static_cast<std::size_t>(block)];
      std::int64_t& first = input_.first_layer[static_cast<std::size_t>(block)];
      if (first < 0) first = layer;
      ++layer;
      ++layers_;
    }
  }
}

void StageModel::sum_totals() {
  for (std::size_t i = 0; i < input_.instances.size(); ++i) {
    const std::int64_t count = input_.instances[i];
    if (count == 0) continue;
    const BlockState& state = states_[i];
    const auto add = [count](std::int64_t& sum, std::int64_t each) {
      sum = checked_add(sum, checked_multiply(count, each));
    };
    add(totals_.resident_bytes, state.resident_bytes);
    add(totals_.gradient_bytes, state.gradient_bytes);
    add(totals_.host_bytes, state.host_bytes);
    std::int64_t block_elements = 0;
    for (std::size_t p = 0; p < state.parameters.size(); ++p) {
      const std::int64_t elements = blocks_.blocks[i].sharded.parameters[p].elements();
      block_elements += elements;
      if (state.parameters[p].elsewhere) continue;
      add(totals_.parameters, elements);
      if (blocks_.blocks[i].sharded.parameters[p].use.trainable) add(totals_.trainable, elements);
      add(totals_.updated, state.parameters[p].owned_elements);
    }
    totals_.largest_block_bytes =
        std::max(totals_.largest_block_bytes, bytes_of(block_elements, program_.recipe.gathered));
  }
}

void StageModel::add_buffers(const plan::Profile& profile) {
  const plan::Plan& plan = program_.plan;
  if (profile.bucket_bytes > 0 && plan.dp * plan.cp > 1) {
    input_.tensors.push_back(
        {.name = "gradient_bucket", .dtype = DType::uint8, .elements = profile.bucket_bytes});
  }
  if (copies_gradients(profile.gradient_copy, program_)) {
    input_.tensors.push_back({.name = "gradient_copy",
                              .dtype = program_.recipe.gathered,
                              .elements = totals_.trainable});
  }
  if (profile.gather_buffers == plan::GatherBuffers::two_for_all) {
    const std::int64_t elements = largest_gathered();
    if (elements > 0) {
      input_.tensors.push_back({.name = "gather_buffer",
                                .dtype = program_.recipe.compute,
                                .elements = elements,
                                .copies = 2,
                                .grows_with_batch = true});
    }
  }
  if (profile.dummy_weight_gradients == plan::DummyWeightGradients::one_per_shape) {
    input_.tensors.push_back({.name = "dummy_weight_gradients",
                              .category = Category::scratch,
                              .dtype = program_.recipe.compute,
                              .elements = dummy_gradient_elements(blocks_, input_.instances)});
  }
  add_framework_buffers(profile, program_, blocks_, input_.instances, input_.tensors);
  if (profile.optimizer_temporary > 0) {
    input_.tensors.push_back(
        {.name = "optimizer_temporary",
         .category = Category::scratch,
         .dtype = DType::fp32,
         .elements = static_cast<std::int64_t>(
             std::ceil(profile.optimizer_temporary * static_cast<double>(totals_.updated))),
         .alive = Alive::optimizer});
  }
  if (profile.kernel_scratch == plan::KernelScratch::engine) {
    for (const plan::CommunicationBuffer& buffer : communication_buffers(program_, blocks_)) {
      input_.tensors.push_back(
          {.name = buffer.name, .dtype = buffer.dtype, .elements = buffer.elements});
    }
  }
  for (const plan::StepScalar& scalar : plan::kStepScalars) {
    input_.tensors.push_back({.name = scalar.name,
                              .role = Role::value,
                              .dtype = scalar.dtype,
                              .elements = 1,
                              .alive = alive_of(scalar.life)});
  }
  if (plan.activation_offload != plan::ActivationOffload::none) add_offloaded_activations();
  if (plan.offload != plan::Offload::none) {
    // Pinned double buffers through which blocks stream.
    input_.tensors.push_back({.name = "offload_staging",
                              .place = Place::host,
                              .dtype = DType::uint8,
                              .elements = totals_.largest_block_bytes,
                              .copies = 2});
  }
}

// One copy per layer on the host, for the one micro-batch in flight, and one on the device for the
// layer before or after that at work, whose copy is on its way.
void StageModel::add_offloaded_activations() {
  StageTensor host{.name = "offloaded_residual",
                   .category = Category::saved_activation,
                   .place = Place::host,
                   .copies = 0,
                   .grows_with_batch = true};
  for (std::size_t i = 0; i < blocks_.blocks.size(); ++i) {
    for (const plan::ProgramTensor& tensor : blocks_.blocks[i].tensors) {
      if (!tensor.offloaded || input_.instances[i] == 0) continue;
      host.dtype = tensor.dtype;
      host.elements = tensor.shape.elements();  // the stream's: the same in every layer
      host.copies += input_.instances[i];
    }
  }
  if (host.copies == 0) return;
  input_.tensors.push_back(host);
  input_.tensors.push_back({.name = "residual_buffer",
                            .dtype = host.dtype,
                            .elements = host.elements,
                            .grows_with_batch = true});
}

// Of what tensor parallelism makes whole on the stage.
std::int64_t StageModel::largest_gathered() const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < blocks_.blocks.size(); ++i) {
    if (input_.instances[i] == 0) continue;
    const plan::ShardedBlock& block = blocks_.blocks[i].sharded;
    for (std::size_t op = 0; op < block.collectives.size(); ++op) {
      const plan::OperationCollective& collective = block.collectives[op];
      if (collective.kind != plan::Collective::all_gather || collective.axis != plan::Axis::tp) {
        continue;
      }
      const auto made = static_cast<std::size_t>(block.operations.operations[op].outputs[0]);
      most = std::max(most, block.operations.tensors[made].shape.elements());
    }
  }
  return most;
}

std::int64_t StageModel::fixed_bytes() const {
  std::int64_t bytes = totals_.resident_bytes + totals_.gradient_bytes;
  for (const StageTensor& tensor : input_.tensors) {
    if (tensor.place != Place::device || tensor.alive != Alive::whole_step) continue;
    if (tensor.grows_with_batch) continue;
    bytes += tensor.copies * bytes_of(tensor.elements, tensor.dtype);
  }
  std::int64_t gathered = 0;
  std::int64_t whole_gradient = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (input_.instances[i] == 0) continue;
    const std::int64_t copies = std::min<std::int64_t>(input_.instances[i], 2);
    gathered = std::max(gathered, copies * states_[i].gathered_bytes);
    whole_gradient = std::max(whole_gradient, states_[i].block_gradient_bytes);
  }
  return bytes + gathered + whole_gradient;
}

void StageModel::sum_static_bytes() {
  bytes_.static_bytes = totals_.resident_bytes;
  bytes_.optimizer_bytes = totals_.resident_bytes + totals_.gradient_bytes;
  if (input_.walk.gradient_lifetime == plan::GradientLifetime::persistent) {
    bytes_.static_bytes += totals_.gradient_bytes;
  }
  for (const StageTensor& tensor : input_.tensors) {
    if (tensor.place != Place::device) continue;
    const std::int64_t bytes = tensor.copies * bytes_of(tensor.elements, tensor.dtype);
    switch (tensor.alive) {
      case Alive::whole_step:
        bytes_.static_bytes += bytes;
        bytes_.optimizer_bytes += bytes;
        break;
      case Alive::count_to_loss:
        bytes_.static_bytes += bytes;
        break;
      case Alive::optimizer:
        bytes_.optimizer_bytes += bytes;
        break;
      case Alive::norm_to_clip:
        break;  // never part of a peak
    }
  }
}

}  // namespace fourhold::predict

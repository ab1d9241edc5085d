#include "fourhold/plan/lower_sample.h"

#include <cassert>
#include <utility>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/plan/engine_scratch.h"
#include "fourhold/plan/validate.h"

namespace fourhold::plan {
namespace {

using ledger::Category;
using model::Operation;
using model::OpKind;
using model::TensorId;

class SampleLowering {
 public:
  SampleLowering(ShardedBlock block, std::int64_t cache_rows) : cache_rows_(cache_rows) {
    result_.sharded = std::move(block);
    for (LocalParameter& parameter : result_.sharded.parameters) parameter.use.trainable = false;
    result_.input = operations().input;
    result_.output = operations().output;
  }

  ProgramBlock run() {
    for (std::size_t i = 0; i < operations().tensors.size(); ++i) {
      add_value(static_cast<TensorId>(i));
    }
    for (std::size_t i = 0; i < operations().operations.size(); ++i) {
      const Operation& operation = operations().operations[i];
      if (operation.kind == OpKind::cross_entropy) {
        result_.output = operation.inputs[0];
        break;
      }
      add_step(static_cast<std::int16_t>(i));
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] const model::BlockOperations& operations() const {
    return result_.sharded.operations;
  }

  std::int16_t add(ProgramTensor tensor) {
    const auto id = static_cast<std::int16_t>(result_.tensors.size());
    if (tensor.storage < 0) tensor.storage = id;
    result_.tensors.push_back(tensor);
    return id;
  }

  void add_value(TensorId id) {
    const model::Tensor& source = operations().tensors[static_cast<std::size_t>(id)];
    ProgramTensor value;
    value.name = source.name;
    value.variant = source.variant;
    value.dtype = source.dtype;
    value.shape = source.shape;
    value.storage = static_cast<std::int16_t>(model::storage_of(operations(), id));
    if (source.name == model::TensorName::token_ids) value.category = Category::input;
    add(value);
  }

  // Keys or values as the operation takes them, of all tokens a sequence can have.
  std::int16_t add_cache(TensorId of, model::TensorName name) {
    const model::Tensor& source = operations().tensors[static_cast<std::size_t>(of)];
    ProgramTensor cache;
    cache.name = name;
    cache.category = Category::kv_cache;
    cache.dtype = source.dtype;
    cache.shape = source.shape;
    cache.shape[0].size = cache_rows_;
    return add(cache);
  }

  void add_step(std::int16_t index) {
    const Operation& operation = operations().operations[static_cast<std::size_t>(index)];
    assert(operation.kind != OpKind::chunked_loss && "a chunked loss keeps no logits");
    Step step;
    step.operation = index;
    for (const TensorId in : operation.inputs) step.accesses.push_back({in, AccessMode::read});
    if (operation.kind == OpKind::attention) {
      for (const auto& [input, name] :
           {std::pair{1, model::TensorName::k_cache}, std::pair{2, model::TensorName::v_cache}}) {
        step.accesses.push_back({add_cache(operation.inputs[input], name), AccessMode::append});
      }
    }
    for (const TensorId out : operation.outputs) step.accesses.push_back({out, AccessMode::write});
    for (const std::int16_t parameter : operation.parameters) {
      step.reads_parameters.push_back(parameter);
    }
    for (const model::Transient& transient : operation.forward_transients) {
      ProgramTensor made;
      made.name = transient.name;
      made.role = ledger::Role::transient;
      made.dtype = transient.dtype;
      made.shape = transient.shape;
      step.accesses.push_back({add(made), AccessMode::write});
    }
    result_.forward.push_back(step);
  }

  std::int64_t cache_rows_;
  ProgramBlock result_;
};

ProgramBlocks sample_blocks(const model::ModelConfig& config, const Plan& plan,
                            const Profile& profile, std::int64_t tokens) {
  const model::BatchSizes sizes{.micro_batch = plan.micro_batch, .seq = tokens};
  const model::Switches switches = switches_of(plan, profile);
  const ShardingDegrees degrees = degrees_of(plan, config, profile);
  const std::int64_t cache_rows = checked_multiply(plan.micro_batch, plan.seq);
  ProgramBlocks blocks;
  const auto add = [&](model::BlockOperations operations) {
    ShardedBlock block = shard(std::move(operations), degrees);
    if (profile.kernel_scratch == KernelScratch::engine) add_sample_scratch(block, plan);
    blocks.blocks.push_back(lower_sample_block(std::move(block), cache_rows));
    return static_cast<std::int16_t>(blocks.blocks.size() - 1);
  };
  blocks.embedding = add(model::embedding_operations(config, sizes, switches));
  for (std::size_t kind = 0; kind < config.kinds.size(); ++kind) {
    blocks.layer_of_kind.push_back(
        add(model::layer_operations(config, static_cast<std::int32_t>(kind), sizes, switches)));
  }
  blocks.plain_layer_of_kind = blocks.layer_of_kind;
  blocks.head = add(model::head_operations(config, sizes, switches));
  return blocks;
}

}  // namespace

ProgramBlock lower_sample_block(ShardedBlock block, std::int64_t cache_rows) {
  return SampleLowering(std::move(block), cache_rows).run();
}

std::vector<SamplePass> lower_sample(const model::ModelConfig& config, const Plan& plan,
                                     const Profile& profile, const SampleSizes& sizes) {
  assert(plan.devices() == 1 && plan.loss_chunk == 0 && "one device, whole logits");
  assert(profile.switches.attention == model::AttentionSaving::flash && "attention in one piece");
  std::vector<SamplePass> passes;
  const auto add = [&](std::int64_t tokens) -> SamplePass& {
    SamplePass& pass = passes.emplace_back();
    pass.tokens = tokens;
    pass.blocks = sample_blocks(config, plan, profile, tokens);
    pass.program = lower(config, pass.blocks, plan, profile, 0, ProgramKind::sample);
    pass.program.pass = static_cast<std::int32_t>(passes.size() - 1);
    return pass;
  };
  try {
    passes.reserve(2);
    if (sizes.prompt_tokens > 0) add(sizes.prompt_tokens).program.chunks[0].head = false;
    add(1);
  } catch (const Error& fault) {
    if (fault.where() != kSizeFault) throw;
    refuse_size(plan);
  }
  return passes;
}

}  // namespace fourhold::plan

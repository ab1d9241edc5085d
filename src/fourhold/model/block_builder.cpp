#include "fourhold/model/block_builder.h"

#include <cassert>

namespace fourhold::model {
namespace {

// Where the input dimensions of a matrix begin: o_weight [h | a, d], all others [out... | in].
int first_input_dim(const Parameter& parameter) {
  return parameter.name == TensorName::o_weight ? 1 : parameter.shape.rank() - 1;
}

bool takes_adapter(const Parameter& parameter, const AdapterTargets& targets) {
  const std::optional<AdapterTarget> target = adapter_target(parameter.name);
  return parameter.role == ParameterRole::matrix && target.has_value() && targets.contains(*target);
}

bool is_trained(const Parameter& parameter, const Switches& switches) {
  if (parameter.role == ParameterRole::buffer) return false;
  if (switches.adapters == Adapters::none) return true;
  if (parameter.name == TensorName::token_embedding) {
    return trains_embedding(switches.trained_modules);
  }
  return parameter.name == TensorName::head_weight && trains_head(switches.trained_modules);
}

}  // namespace

BlockBuilder::BlockBuilder(const ModelConfig& config, const BatchSizes& sizes,
                           const Switches& switches, BlockOperations& block)
    : config_(config),
      switches_(switches),
      block_(block),
      tokens_(checked_multiply(sizes.micro_batch, sizes.seq)),
      seq_(sizes.seq),
      in_layer_(block.block == Block::layer) {
  block_.tensors.reserve(64);
  block_.operations.reserve(48);
}

void BlockBuilder::add_parameters(const std::vector<Parameter>& parameters) {
  block_.parameters.reserve(block_.parameters.size() + parameters.size());
  const bool adapters = switches_.adapters == Adapters::lora;
  for (const Parameter& parameter : parameters) {
    BlockParameter entry;
    entry.parameter = parameter;
    entry.trainable = is_trained(parameter, switches_);
    entry.layer = layer_;
    block_.parameters.push_back(entry);
    if (!adapters) continue;
    if (entry.trainable && switches_.trained_copies == TrainedCopies::beside) {
      block_.parameters.push_back({parameter, Variant::original, false, false});
    }
    if (block_.block != Block::layer || !takes_adapter(parameter, switches_.lora_targets)) continue;
    const int first_input = first_input_dim(parameter);
    const Extent rank{Dim::other, switches_.lora_rank};
    Shape a{rank};
    Shape b;
    for (int i = 0; i < parameter.shape.rank(); ++i) {
      (i < first_input ? b : a).push_back(parameter.shape[i]);
    }
    b.push_back(rank);
    block_.parameters.push_back(
        {{parameter.name, a, ParameterRole::matrix}, Variant::lora_a, true, false});
    block_.parameters.push_back(
        {{parameter.name, b, ParameterRole::matrix}, Variant::lora_b, true, false});
  }
}

std::int16_t BlockBuilder::parameter(TensorName name, Variant variant) const {
  for (std::size_t i = block_.parameters.size(); i-- > 0;) {
    const BlockParameter& entry = block_.parameters[i];
    if (entry.parameter.name == name && entry.variant == variant) {
      return static_cast<std::int16_t>(i);
    }
  }
  return -1;
}

std::int16_t BlockBuilder::bias_of(TensorName weight, TensorName bias) const {
  return bias == weight ? std::int16_t{-1} : parameter(bias);
}

TensorId BlockBuilder::tensor(const Tensor& tensor) {
  block_.tensors.push_back(tensor);
  block_.tensors.back().layer = layer_;
  return static_cast<TensorId>(block_.tensors.size() - 1);
}

TensorId BlockBuilder::stream_tensor(TensorName name, Variant variant) {
  return tensor({.name = name,
                 .variant = variant,
                 .region = Region::stream,
                 .dtype = switches_.compute,
                 .shape = {token_extent(), {Dim::hidden, config_.hidden}}});
}

TensorId BlockBuilder::alias(TensorName name, TensorId of) {
  Tensor view = at(of);
  view.name = name;
  view.alias_of = of;
  return tensor(view);
}

Tensor BlockBuilder::new_like(TensorId of, TensorName name) const {
  Tensor made = at(of);
  made.name = name;
  made.variant = Variant::plain;
  made.alias_of = kNoTensor;
  return made;
}

Operation& BlockBuilder::operation(OpKind kind) {
  Operation& op = block_.operations.emplace_back();
  op.kind = kind;
  op.of_layer = in_layer_;
  op.layer = layer_;
  return op;
}

const Tensor& BlockBuilder::at(TensorId id) const {
  return block_.tensors[static_cast<std::size_t>(id)];
}

TensorId BlockBuilder::norm(TensorId x, NormKind kind, const NormNames& names, int row_dims) {
  const Tensor input = at(x);
  // One statistic (rstd) per normalised row for RMS, two (mean, rstd) for layer norm; fp32.
  Shape rows;
  for (int i = 0; i < row_dims; ++i) rows.push_back(input.shape[i]);
  rows.push_back({Dim::other, kind == NormKind::layer_norm ? 2 : 1});

  Tensor out = new_like(x, names.out);
  const TensorId out_id = tensor(out);
  const TensorId statistics = tensor(
      {.name = names.statistics, .region = input.region, .dtype = DType::fp32, .shape = rows});
  Operation& op = operation(OpKind::norm);
  op.norm = kind;
  op.recompute = RecomputeGroup::norm;
  op.inputs = {x};
  op.outputs = {out_id, statistics};
  if (const std::int16_t weight = parameter(names.weight); weight >= 0) op.parameters = {weight};
  const std::int16_t bias = bias_of(names.weight, names.bias);
  if (bias >= 0) op.parameters.push_back(bias);
  if (switches_.norm == NormSaving::input || kind == NormKind::layer_norm) {
    op.saved = {x, statistics};
    return out_id;
  }
  Tensor wide = out;
  wide.name = names.wide;
  wide.dtype = DType::fp32;
  Tensor normalised = out;
  normalised.name = names.normalised;
  const TensorId wide_id = tensor(wide);
  const TensorId normalised_id = tensor(normalised);
  op.outputs.push_back(wide_id);
  op.outputs.push_back(normalised_id);
  op.saved = {statistics, wide_id};
  // Only the gradient of the weight reads what the weight multiplied.
  const bool trains_weight =
      !op.parameters.empty() &&
      block_.parameters[static_cast<std::size_t>(op.parameters[0])].trainable;
  if (trains_weight) op.saved.push_back(normalised_id);
  return out_id;
}

TensorId BlockBuilder::linear(TensorId x, const LinearSpec& spec) {
  const std::int16_t weight = parameter(spec.weight);
  assert(weight >= 0 && "a linear needs its weight in the block's parameters");
  const std::int16_t bias = bias_of(spec.weight, spec.bias);
  const TensorId out =
      tensor({.name = spec.out, .region = spec.region, .dtype = spec.dtype, .shape = spec.shape});
  const bool trainable = block_.parameters[static_cast<std::size_t>(weight)].trainable;
  Operation& op = operation(OpKind::linear);
  op.packed = spec.packed;
  op.recompute = spec.recompute;
  op.inputs = {x};
  op.outputs = {out};
  op.parameters = {weight};
  if (bias >= 0) op.parameters.push_back(bias);
  if (trainable) {
    op.saved = {x};
  } else {
    keep_as_frozen(block_.parameters[static_cast<std::size_t>(weight)].parameter, x, op);
  }
  return parameter(spec.weight, Variant::lora_a) < 0 ? out : adapter(x, out, spec);
}

TensorId BlockBuilder::output_linear(TensorId x, const LinearSpec& spec, TensorName summed) {
  LinearSpec without_bias = spec;
  without_bias.bias = spec.weight;  // added after the sum, once
  without_bias.region = Region::inner;
  const TensorId partial = linear(x, without_bias);
  mark_partial(partial);
  TensorId out = leave(partial, summed);
  if (const std::int16_t bias = bias_of(spec.weight, spec.bias); bias >= 0) {
    const TensorId biased = alias(summed, out);
    Operation& op = operation(OpKind::add_bias);
    op.inputs = {out};
    op.outputs = {biased};
    op.parameters = {bias};
    out = biased;
  }
  return out;
}

void BlockBuilder::mark_branch(std::size_t first, RecomputeGroup branch) {
  for (std::size_t i = first; i < block_.operations.size(); ++i) {
    block_.operations[i].branch = branch;
  }
}

void BlockBuilder::keep_results(std::size_t first) {
  for (std::size_t i = first; i < block_.operations.size(); ++i) {
    Operation& op = block_.operations[i];
    for (const TensorId out : op.outputs) op.saved.push_back(out);
  }
}

void BlockBuilder::mark_partial(TensorId id) {
  // Also the tensor whose storage this one took over, as an adapter's sum does.
  block_.tensors[static_cast<std::size_t>(storage_of(block_, id))].variant = Variant::partial;
}

TensorId BlockBuilder::enter(TensorId x, Gathered gathered) {
  // Branches that read the same tensor share one border.
  for (const Operation& op : block_.operations) {
    const bool same = op.kind == OpKind::enter_branch && op.gathered == gathered;
    if (same && op.inputs[0] == x) return op.outputs[0];
  }
  Tensor inner = at(x);
  inner.variant = Variant::gathered;
  inner.region = Region::inner;
  inner.alias_of = x;  // plan/sharding gives it storage of its own where ranks are gathered
  const TensorId out = tensor(inner);
  Operation& op = operation(OpKind::enter_branch);
  op.gathered = gathered;
  op.inputs = {x};
  op.outputs = {out};
  return out;
}

TensorId BlockBuilder::leave(TensorId x, TensorName out) {
  Tensor stream = at(x);
  stream.name = out;
  stream.variant = Variant::plain;
  stream.region = Region::stream;
  stream.alias_of = x;
  const TensorId id = tensor(stream);
  Operation& op = operation(OpKind::leave_branch);
  op.inputs = {x};
  op.outputs = {id};
  return id;
}

TensorId BlockBuilder::activation(TensorId x, ActivationKind kind, TensorName out,
                                  RecomputeGroup group) {
  const TensorId id = tensor(new_like(x, out));
  Operation& op = operation(OpKind::activation);
  op.activation = kind;
  op.recompute = group;
  op.inputs = {x};
  op.outputs = {id};
  op.saved = {x};
  return id;
}

TensorId BlockBuilder::gated_activation(TensorId gate, TensorId up, ActivationKind kind,
                                        TensorName activated, TensorName out, RecomputeGroup group,
                                        TensorId row_scale) {
  if (switches_.activation == ActivationSaving::unfused && row_scale == kNoTensor) {
    const TensorId active = activation(gate, kind, activated, group);
    const TensorId id = tensor(new_like(up, out));
    Operation& op = operation(OpKind::multiply);
    op.recompute = group;
    op.inputs = {active, up};
    op.outputs = {id};
    op.saved = {active, up};
    return id;
  }
  const TensorId id = tensor(new_like(up, out));
  Operation& op = operation(OpKind::gated_activation);
  op.activation = kind;
  op.recompute = group;
  op.inputs = {gate, up};
  op.outputs = {id};
  op.saved = {gate, up};
  if (row_scale != kNoTensor) {
    op.inputs.push_back(row_scale);
    op.saved.push_back(row_scale);
  }
  return id;
}

TensorId BlockBuilder::dropout(TensorId x, double probability, TensorName mask, TensorName out) {
  if (switches_.dropout == DropoutMasks::none || probability <= 0) return x;
  Tensor mask_tensor = new_like(x, mask);
  mask_tensor.dtype = DType::boolean;
  const TensorId mask_id = tensor(mask_tensor);
  const TensorId out_id = alias(out, x);
  Operation& op = operation(OpKind::dropout);
  op.inputs = {x};
  op.outputs = {out_id, mask_id};
  op.saved = {mask_id};
  return out_id;
}

TensorId BlockBuilder::add(TensorId a, TensorId b, TensorName out) {
  const TensorId id = stream_tensor(out);
  Operation& op = operation(OpKind::add);
  op.inputs = {a, b};
  op.outputs = {id};
  return id;
}

TensorId storage_of(const BlockOperations& block, TensorId id) {
  while (block.tensors[static_cast<std::size_t>(id)].alias_of != kNoTensor) {
    id = block.tensors[static_cast<std::size_t>(id)].alias_of;
  }
  return id;
}

}  // namespace fourhold::model

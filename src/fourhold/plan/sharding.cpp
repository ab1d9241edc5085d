#include "fourhold/plan/sharding.h"

#include <algorithm>
#include <numeric>

namespace fourhold::plan {
namespace {

using model::Dim;
using model::OpKind;
using model::Region;
using model::TensorId;

// kv heads are split where there are enough of them, layer by layer: kinds of layers may differ.
bool is_split_over_tp(const model::Shape& shape, const ShardingDegrees& degrees) {
  return std::any_of(shape.begin(), shape.end(), [&](const model::Extent& extent) {
    switch (extent.dim) {
      case Dim::heads:
      case Dim::ffn:
      case Dim::expert_ffn:
      case Dim::vocab:
        return true;
      case Dim::kv_heads:
        return extent.size >= degrees.tp;
      default:
        return false;
    }
  });
}

bool has_dim(const model::Shape& shape, Dim dim) {
  return std::any_of(shape.begin(), shape.end(),
                     [dim](const model::Extent& extent) { return extent.dim == dim; });
}

model::Shape local_shape(const model::Shape& shape, Region region, const ShardingDegrees& degrees) {
  model::Shape local;
  for (const model::Extent& extent : shape) local.push_back(local_extent(extent, region, degrees));
  return local;
}

// Which replicas must add their gradients of a parameter that tp does not split. Inside a branch
// every rank sees its own heads or widths only; in the stream, its own tokens under sequence
// parallelism and everything without.
std::optional<Axis> gradient_sum(const model::Shape& shape, Region region,
                                 const ShardingDegrees& degrees) {
  if (degrees.tp == 1 || is_split_over_tp(shape, degrees)) return std::nullopt;
  if (has_dim(shape, Dim::kv_heads)) return Axis::kv_replicas;
  if (region == Region::inner || degrees.sp) return Axis::tp;
  return std::nullopt;
}

OperationCollective border(const model::Operation& op, const ShardingDegrees& degrees) {
  switch (op.kind) {
    case OpKind::enter_branch:
      if (degrees.tp == 1) return {};
      return {degrees.sp ? Collective::all_gather : Collective::copy, Axis::tp};
    case OpKind::leave_branch:
      if (degrees.tp == 1) return {};
      return {degrees.sp ? Collective::reduce_scatter : Collective::all_reduce, Axis::tp};
    case OpKind::exchange_experts:
      if (degrees.ep == 1) return {};
      return {Collective::all_to_all, Axis::ep};
    default:
      return {};
  }
}

bool is_border(OpKind kind) {
  return kind == OpKind::enter_branch || kind == OpKind::leave_branch ||
         kind == OpKind::exchange_experts;
}

// Communication inside an operation that is not a border.
OperationCollective inner_collective(const model::Operation& op,
                                     const model::BlockOperations& block,
                                     const ShardingDegrees& degrees) {
  switch (op.kind) {
    case OpKind::attention:
      if (degrees.cp > 1) return {Collective::ring, Axis::cp};
      return {};
    case OpKind::attention_scores:
      if (degrees.cp > 1) {
        throw Error("cp", "context parallelism needs fused attention",
                    "use cp 1, or a profile whose attention is flash");
      }
      return {};
    case OpKind::cross_entropy:
    case OpKind::chunked_loss:
      if (degrees.tp > 1) return {Collective::reduce_scalars, Axis::tp};
      return {};
    case OpKind::norm: {
      // A norm over all heads together sums squares over the ranks that hold them.
      const model::Tensor& input = block.tensors[static_cast<std::size_t>(op.inputs[0])];
      const model::Tensor& statistics = block.tensors[static_cast<std::size_t>(op.outputs[1])];
      const bool over_heads = input.shape.rank() - statistics.shape.rank() == 1;
      if (over_heads && degrees.tp > 1) return {Collective::reduce_scalars, Axis::tp};
      return {};
    }
    default:
      return {};
  }
}

}  // namespace

ShardingDegrees degrees_of(const Plan& plan, const model::ModelConfig& config,
                           const Profile& profile) {
  const std::int64_t multiple = profile.vocabulary_multiple_times_tp
                                    ? checked_multiply(profile.vocabulary_multiple, plan.tp)
                                    : std::lcm(profile.vocabulary_multiple, plan.tp);
  return {.tp = plan.tp,
          .sp = plan.sp,
          .cp = plan.cp,
          .ep = plan.ep,
          .padded_vocab = checked_multiply(ceil_divide(config.vocab, multiple), multiple)};
}

model::Extent local_extent(const model::Extent& extent, Region region,
                           const ShardingDegrees& degrees) {
  switch (extent.dim) {
    case Dim::tokens:
    case Dim::routed: {
      const bool over_tp = region == Region::stream && degrees.sp;
      return {extent.dim, ceil_divide(extent.size, degrees.cp * (over_tp ? degrees.tp : 1))};
    }
    case Dim::heads:
    case Dim::ffn:
    case Dim::expert_ffn:
      return {extent.dim, ceil_divide(extent.size, degrees.tp)};
    case Dim::kv_heads:
      return {extent.dim, std::max<std::int64_t>(1, extent.size / degrees.tp)};
    case Dim::vocab:
      return {extent.dim, degrees.padded_vocab / degrees.tp};
    case Dim::experts:
      return {extent.dim, ceil_divide(extent.size, degrees.ep)};
    default:
      return extent;
  }
}

ShardedBlock shard(model::BlockOperations block, const ShardingDegrees& degrees) {
  ShardedBlock sharded;
  std::vector<TensorId> stands_for(block.tensors.size());
  std::iota(stands_for.begin(), stands_for.end(), TensorId{0});
  const auto resolve = [&](TensorId id) {
    return id == model::kNoTensor ? id : stands_for[static_cast<std::size_t>(id)];
  };

  std::vector<model::Operation> kept;
  kept.reserve(block.operations.size());
  sharded.collectives.reserve(block.operations.size());
  for (model::Operation& op : block.operations) {
    for (TensorId& id : op.inputs) id = resolve(id);
    for (TensorId& id : op.saved) id = resolve(id);
    op.gradient_in_place_of = resolve(op.gradient_in_place_of);
    if (!is_border(op.kind)) {
      sharded.collectives.push_back(inner_collective(op, block, degrees));
      kept.push_back(op);
      continue;
    }
    const OperationCollective collective = border(op, degrees);
    const TensorId out = op.outputs[0];
    if (collective.kind == Collective::none) {
      stands_for[static_cast<std::size_t>(out)] = op.inputs[0];
      model::Tensor& whole =
          block.tensors[static_cast<std::size_t>(model::storage_of(block, op.inputs[0]))];
      if (whole.variant == model::Variant::partial) whole.variant = model::Variant::plain;
      continue;
    }
    const bool in_place =
        collective.kind == Collective::copy || collective.kind == Collective::all_reduce;
    block.tensors[static_cast<std::size_t>(out)].alias_of =
        in_place ? op.inputs[0] : model::kNoTensor;
    sharded.collectives.push_back(collective);
    kept.push_back(op);
  }
  block.output = resolve(block.output);
  block.operations = std::move(kept);

  // A parameter's region is that of the first operation that uses it.
  std::vector<Region> regions(block.parameters.size(), Region::stream);
  for (auto op = block.operations.rbegin(); op != block.operations.rend(); ++op) {
    for (const std::int16_t parameter : op->parameters) {
      regions[static_cast<std::size_t>(parameter)] =
          block.tensors[static_cast<std::size_t>(op->outputs[0])].region;
    }
  }
  sharded.parameters.reserve(block.parameters.size());
  for (std::size_t i = 0; i < block.parameters.size(); ++i) {
    const model::BlockParameter& use = block.parameters[i];
    const model::Shape& whole = use.parameter.shape;
    sharded.parameters.push_back({use, local_shape(whole, regions[i], degrees),
                                  has_dim(whole, Dim::experts),
                                  gradient_sum(whole, regions[i], degrees)});
  }
  for (model::Tensor& tensor : block.tensors) {
    if (tensor.alias_of != model::kNoTensor) tensor.alias_of = resolve(tensor.alias_of);
    tensor.shape = local_shape(tensor.shape, tensor.region, degrees);
  }
  for (model::Operation& op : block.operations) {
    for (model::Transient& transient : op.forward_transients) {
      transient.shape = local_shape(transient.shape, transient.region, degrees);
    }
    for (model::Transient& transient : op.backward_transients) {
      transient.shape = local_shape(transient.shape, transient.region, degrees);
    }
  }
  sharded.operations = std::move(block);
  return sharded;
}

}  // namespace fourhold::plan

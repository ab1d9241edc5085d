// The feed-forward branch: dense, gated or not, or routed experts with shared ones beside them.
#include <cmath>

#include "fourhold/model/block_builder.h"

namespace fourhold::model {
namespace {

// The names of one gated or plain pair of linears.
struct FeedForwardNames {
  TensorName gate_weight, gate_bias, up_weight, up_bias, down_weight, down_bias;
  TensorName gate, up, activated, product, out;
  PackedGroup packed;
  RecomputeGroup widening;  // what drops the widened tensors
  RecomputeGroup activation;
};

constexpr FeedForwardNames kDense{
    TensorName::gate_weight, TensorName::gate_bias,     TensorName::up_weight, TensorName::up_bias,
    TensorName::down_weight, TensorName::down_bias,     TensorName::gate,      TensorName::up,
    TensorName::activated,   TensorName::product,       TensorName::down_out,  PackedGroup::gate_up,
    RecomputeGroup::none,    RecomputeGroup::activation};
constexpr FeedForwardNames kShared{
    TensorName::shared_gate_weight, TensorName::shared_gate_weight, TensorName::shared_up_weight,
    TensorName::shared_up_weight,   TensorName::shared_down_weight, TensorName::shared_down_weight,
    TensorName::shared_gate,        TensorName::shared_up,          TensorName::shared_activated,
    TensorName::shared_product,     TensorName::shared_out,         PackedGroup::shared_gate_up,
    RecomputeGroup::none,           RecomputeGroup::activation};
constexpr FeedForwardNames kExpert{
    TensorName::expert_gate_weight, TensorName::expert_gate_bias,   TensorName::expert_up_weight,
    TensorName::expert_up_bias,     TensorName::expert_down_weight, TensorName::expert_down_bias,
    TensorName::expert_gate,        TensorName::expert_up,          TensorName::expert_activated,
    TensorName::expert_product,     TensorName::expert_out,         PackedGroup::expert_gate_up,
    RecomputeGroup::experts,        RecomputeGroup::experts};

// A plain activation and its rows' weights are two kernels: the second keeps what the first made.
TensorId weighted_rows(BlockBuilder& build, TensorId active, TensorId row_scale,
                       const FeedForwardNames& names) {
  const TensorId scaled = build.tensor(build.new_like(active, names.product));
  Operation& op = build.operation(OpKind::multiply);
  op.recompute = names.activation;
  op.inputs = {active, row_scale};
  op.outputs = {scaled};
  op.saved = {active, row_scale};
  return scaled;
}

// Up (and gate) and the activation: [rows, h] -> [rows, f]. `row_scale` as in gated_activation.
TensorId widen(BlockBuilder& build, const FeedForward& feed_forward, const FeedForwardNames& names,
               TensorId x, const Shape& wide, TensorId row_scale) {
  const DType dtype = build.switches().compute;
  const auto column = [&](TensorName weight, TensorName bias, TensorName out,
                          RecomputeGroup recompute) {
    return build.linear(x, {.weight = weight,
                            .bias = bias,
                            .out = out,
                            .shape = wide,
                            .region = Region::inner,
                            .packed = feed_forward.gated ? names.packed : PackedGroup::none,
                            .recompute = recompute,
                            .dtype = dtype});
  };
  if (!feed_forward.gated) {
    const TensorId up = column(names.up_weight, names.up_bias, names.up, names.widening);
    if (row_scale == kNoTensor) {
      return build.activation(up, feed_forward.activation, names.product, names.activation);
    }
    const TensorId active =
        build.activation(up, feed_forward.activation, names.activated, names.activation);
    return weighted_rows(build, active, row_scale, names);
  }
  const bool widens_again = names.widening != RecomputeGroup::none;
  const TensorId gate = column(names.gate_weight, names.gate_bias, names.gate, names.widening);
  const TensorId up = column(names.up_weight, names.up_bias, names.up,
                             widens_again ? names.widening : RecomputeGroup::alternate);
  return build.gated_activation(gate, up, feed_forward.activation, names.activated, names.product,
                                names.activation, row_scale);
}

TensorId dense(BlockBuilder& build, const FeedForward& feed_forward, const FeedForwardNames& names,
               TensorId inner, std::int64_t width) {
  const Shape wide{build.token_extent(), {Dim::ffn, width}};
  const std::size_t first = build.operation_count();
  const TensorId product = widen(build, feed_forward, names, inner, wide, kNoTensor);
  build.mark_branch(first, RecomputeGroup::mlp);
  const std::size_t narrowing = build.operation_count();
  const TensorId out =
      build.output_linear(product,
                          {.weight = names.down_weight,
                           .bias = names.down_bias,
                           .out = names.out,
                           .shape = {build.token_extent(), {Dim::hidden, build.config().hidden}},
                           .dtype = build.switches().compute},
                          names.out);
  if (build.switches().keep_down_product) build.keep_results(narrowing);
  return out;
}

// Always-active experts: a dense feed-forward, scaled by its own gate where the model has one.
TensorId shared_experts(BlockBuilder& build, const FeedForward& feed_forward, TensorId x) {
  const TensorId out =
      dense(build, feed_forward, kShared, build.enter(x), feed_forward.shared_width);
  if (!feed_forward.shared_gate) return out;
  const TensorId score = build.linear(x, {.weight = TensorName::shared_expert_gate_weight,
                                          .bias = TensorName::shared_expert_gate_weight,
                                          .out = TensorName::shared_gate_score,
                                          .shape = {build.token_extent(), {Dim::other, 1}},
                                          .dtype = build.switches().compute});
  const TensorId scaled = build.stream_tensor(TensorName::shared_scaled);
  Operation& op = build.operation(OpKind::scale_rows);
  op.inputs = {out, score};
  op.outputs = {scaled};
  op.saved = {out, score};
  return scaled;
}

struct Routing {
  TensorId probabilities, indices;
};

Routing route(BlockBuilder& build, const FeedForward& feed_forward, TensorId x) {
  const Extent tokens = build.token_extent();
  const Shape per_expert{tokens, {Dim::other, feed_forward.experts}};
  const TensorId logits = build.linear(x, {.weight = TensorName::router_weight,
                                           .bias = TensorName::router_bias,
                                           .out = TensorName::router_logits,
                                           .shape = per_expert,
                                           .dtype = DType::fp32});
  const TensorId probabilities = build.tensor(
      {.name = TensorName::router_probabilities, .dtype = DType::fp32, .shape = per_expert});
  const TensorId indices =
      build.tensor({.name = TensorName::expert_indices,
                    .dtype = build.switches().index,
                    .shape = {tokens, {Dim::other, feed_forward.active_experts}}});
  Operation& op = build.operation(OpKind::router);
  op.inputs = {logits};
  op.outputs = {probabilities, indices};
  if (const std::int16_t bias = build.parameter(TensorName::correction_bias); bias >= 0) {
    op.parameters = {bias};
  }
  // The softmax's backward reads its result alone; what is chosen is permute's to keep.
  op.saved = {probabilities};
  if (build.switches().keep_router_logits) op.saved.push_back(logits);
  return {probabilities, indices};
}

TensorId exchange(BlockBuilder& build, TensorId rows, TensorName out) {
  Tensor moved = build.at(rows);
  moved.name = out;
  moved.alias_of = rows;  // plan/sharding gives it storage of its own where rows really move
  const TensorId id = build.tensor(moved);
  Operation& op = build.operation(OpKind::exchange_experts);
  op.inputs = {rows};
  op.outputs = {id};
  return id;
}

// Rows of the fullest rank: mean rows times the imbalance the profile plans for.
std::int64_t routed_rows(const BlockBuilder& build, const FeedForward& feed_forward) {
  const std::int64_t mean = checked_multiply(build.tokens(), feed_forward.active_experts);
  return static_cast<std::int64_t>(
      std::ceil(static_cast<double>(mean) * build.switches().routed_imbalance));
}

TensorId experts(BlockBuilder& build, const FeedForward& feed_forward, TensorId x) {
  const Switches& switches = build.switches();
  const bool scale_inside = switches.expert_scaling == ExpertScaling::inside_activation;
  const Routing routing = route(build, feed_forward, x);
  const Extent rows{Dim::routed, routed_rows(build, feed_forward)};
  const Shape row_shape{rows, {Dim::hidden, build.config().hidden}};

  const TensorId permuted =
      build.tensor({.name = TensorName::permuted, .dtype = switches.compute, .shape = row_shape});
  const TensorId weights = build.tensor(
      {.name = TensorName::row_weights, .dtype = DType::fp32, .shape = {rows, {Dim::other, 1}}});
  Operation& permute = build.operation(OpKind::permute);
  permute.inputs = {x, routing.indices, routing.probabilities};
  permute.outputs = {permuted, weights};
  permute.saved = {routing.indices};
  if (switches.keep_permuted_rows) permute.saved.push_back(permuted);

  const TensorId dispatched = exchange(build, permuted, TensorName::dispatched);
  const TensorId inner = build.enter(dispatched, Gathered::kept);
  TensorId row_scale = kNoTensor;
  if (scale_inside) {
    row_scale =
        build.enter(exchange(build, weights, TensorName::row_weights_dispatched), Gathered::kept);
  }
  const Shape wide{rows, {Dim::expert_ffn, feed_forward.expert_width}};
  const TensorId product = widen(build, feed_forward, kExpert, inner, wide, row_scale);
  const TensorId partial = build.linear(product, {.weight = TensorName::expert_down_weight,
                                                  .bias = TensorName::expert_down_bias,
                                                  .out = TensorName::expert_out,
                                                  .shape = row_shape,
                                                  .region = Region::inner,
                                                  .dtype = switches.compute});
  build.mark_partial(partial);
  const TensorId out = build.leave(partial, TensorName::expert_out);
  const TensorId returned = exchange(build, out, TensorName::returned);
  const TensorId combined = build.stream_tensor(TensorName::combined);
  Operation& unpermute = build.operation(OpKind::unpermute);
  unpermute.inputs = {returned, routing.indices};
  unpermute.outputs = {combined};
  unpermute.saved = {routing.indices};
  if (!scale_inside) {
    unpermute.inputs.push_back(weights);
    unpermute.saved.push_back(returned);
    unpermute.saved.push_back(weights);
  }
  if (feed_forward.shared_width == 0) return combined;
  return build.add(combined, shared_experts(build, feed_forward, x), TensorName::feed_forward_out);
}

}  // namespace

TensorId feed_forward_branch(BlockBuilder& build, const FeedForward& feed_forward, TensorId x) {
  switch (feed_forward.kind) {
    case FeedForwardKind::experts:
      return experts(build, feed_forward, x);
    case FeedForwardKind::linear:
      return build.linear(x, {.weight = TensorName::feed_forward_linear_weight,
                              .bias = TensorName::feed_forward_linear_weight,
                              .out = TensorName::feed_forward_out,
                              .shape = {build.token_extent(), {Dim::hidden, build.config().hidden}},
                              .dtype = build.switches().compute});
    case FeedForwardKind::dense:
    case FeedForwardKind::none:
      break;
  }
  return dense(build, feed_forward, kDense, build.enter(x, build.switches().gathered_inputs),
               feed_forward.width);
}

}  // namespace fourhold::model

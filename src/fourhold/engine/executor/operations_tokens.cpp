// What depends on which token a row is: lookups, positions, rotation, attention.
#include <cmath>

#include "fourhold/engine/executor/operations.h"
#include "fourhold/engine/executor/ring_attention.h"
#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/cached_attention.h"
#include "fourhold/engine/kernels/elementwise.h"
#include "fourhold/engine/kernels/embedding.h"
#include "fourhold/engine/kernels/rotary.h"

namespace fourhold::engine {
namespace {

// Rows of the table before this rank's.
std::int64_t first_id(const OperationCall& call, const OperationContext& context) {
  return context.ranks.groups->at().tp * call.parameters[0].dims[0];
}

// Of the rows of `x`: all that the rank has, or in the stream, with sequence parallelism, the share
// of its tp rank.
Positions positions_of(const Tensor& x, const OperationContext& context) {
  const RankGroups& ranks = *context.ranks.groups;
  const plan::Plan& plan = ranks.plan();
  Positions positions =
      plan.cp == 1 ? Positions{.sequences = context.model.micro_batch,
                               .tokens = context.model.seq,
                               .first = context.state.first_position}
                   : shared_positions(context.model.micro_batch, plan.seq, plan.cp, ranks.at().cp);
  positions.shares = positions.sequences * positions.tokens / x.dims[0];
  positions.share = positions.shares == 1 ? 0 : ranks.at().tp;
  return positions;
}

// Rows of a learned table that stand before position 0 (opt has two).
std::int64_t first_row(const model::ModelConfig& config) {
  return config.max_positions > 0 ? config.position_rows - config.max_positions : 0;
}

Rotary rotary_of(const OperationCall& call, const OperationContext& context) {
  const model::RotaryNumbers& numbers = context.model.numerics.rotary;
  const std::int64_t head_dim = call.layer_kind->attention.head_dim;
  Rotary rotary;
  rotary.head_dim = head_dim;
  rotary.turned =
      std::llround(static_cast<double>(head_dim) * context.model.config.rotary_fraction);
  rotary.base = numbers.base;
  switch (numbers.stretch) {
    case model::RotaryStretch::none:
      rotary.scaling = RotaryScaling::none;
      break;
    case model::RotaryStretch::linear:
      rotary.scaling = RotaryScaling::linear;
      break;
    case model::RotaryStretch::llama3:
      rotary.scaling = RotaryScaling::llama3;
      break;
  }
  rotary.factor = numbers.factor;
  rotary.low_frequency_factor = numbers.low_frequency_factor;
  rotary.high_frequency_factor = numbers.high_frequency_factor;
  rotary.original_max_positions = numbers.original_max_positions;
  return rotary;
}

// Backward works in place where the program gives it one storage, else on a copy.
void start_gradient(const OperationCall& call, const OperationContext& context) {
  const Tensor& dy = call.output_gradients[0];
  const Tensor& dx = call.input_gradients[0].tensor;
  if (dx.data != dy.data) cast(dy, dx, context.execution);
}

AttentionShape shape_of(const OperationCall& call, const OperationContext& context) {
  const model::Attention& attention = call.layer_kind->attention;
  AttentionShape shape;
  shape.sequences = context.model.micro_batch;
  shape.seq = context.model.seq;
  shape.heads = call.inputs[0].dims[1];
  shape.kv_heads = call.inputs[1].dims[1];
  shape.head_dim = attention.head_dim;
  shape.window = call.operation->window;
  shape.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(attention.head_dim)));
  return shape;
}

}  // namespace

void embedding_lookup_forward(const OperationCall& call, const OperationContext& context) {
  embedding_lookup(call.inputs[0], call.parameters[0], first_id(call, context), call.outputs[0],
                   context.execution);
}

void embedding_lookup_backward(const OperationCall& call, const OperationContext& context) {
  const Written& gradient = call.parameter_gradients[0];
  if (!gradient.wanted()) return;
  start_sum(gradient, context);
  const std::int64_t first = context.ranks.groups->at().tp * gradient.tensor.dims[0];
  engine::embedding_lookup_backward(call.inputs[0], call.output_gradients[0], first,
                                    gradient.tensor, context.execution);
}

void add_positions_forward(const OperationCall& call, const OperationContext& context) {
  engine::add_positions(call.outputs[0], positions_of(call.outputs[0], context), call.parameters[0],
                        first_row(context.model.config), context.execution);
}

void add_positions_backward(const OperationCall& call, const OperationContext& context) {
  const Written& gradient = call.parameter_gradients[0];
  if (gradient.wanted()) {
    start_sum(gradient, context);
    const Tensor& dy = call.output_gradients[0];
    engine::add_positions_backward(dy, positions_of(dy, context), gradient.tensor,
                                   first_row(context.model.config), context.execution);
  }
  if (call.input_gradients[0].wanted()) start_gradient(call, context);
}

void rotary_forward(const OperationCall& call, const OperationContext& context) {
  if (call.outputs[0].data != call.inputs[0].data) {
    cast(call.inputs[0], call.outputs[0], context.execution);
  }
  const Tensor& x = call.outputs[0];
  rotate(rotary_of(call, context), x, positions_of(x, context), context.execution);
}

void rotary_backward(const OperationCall& call, const OperationContext& context) {
  start_gradient(call, context);
  const Tensor& dx = call.input_gradients[0].tensor;
  rotate_back(rotary_of(call, context), dx, positions_of(dx, context), context.execution);
}

void attention_forward(const OperationCall& call, const OperationContext& context) {
  if (call.caches[0].data != nullptr) {
    return cached_attention({.shape = shape_of(call, context),
                             .cached = context.state.first_position,
                             .q = call.inputs[0],
                             .k = call.inputs[1],
                             .v = call.inputs[2],
                             .k_cache = call.caches[0],
                             .v_cache = call.caches[1],
                             .out = call.outputs[0],
                             .log_sum_exp = call.outputs[1]},
                            call.scratch, context.execution);
  }
  const AttentionForward forward{.shape = shape_of(call, context),
                                 .q = call.inputs[0],
                                 .k = call.inputs[1],
                                 .v = call.inputs[2],
                                 .out = call.outputs[0],
                                 .log_sum_exp = call.outputs[1]};
  if (call.collective.kind == plan::Collective::ring) {
    return ring_attention(forward, *context.ranks.ring, *context.ranks.collectives, call.scratch,
                          context.execution);
  }
  engine::attention(forward, call.scratch, context.execution);
}

void attention_backward(const OperationCall& call, const OperationContext& context) {
  const AttentionBackward backward{.shape = shape_of(call, context),
                                   .q = call.inputs[0],
                                   .k = call.inputs[1],
                                   .v = call.inputs[2],
                                   .out = call.outputs[0],
                                   .log_sum_exp = call.outputs[1],
                                   .dout = call.output_gradients[0],
                                   .row_sums = call.transients[0],
                                   .dq = call.input_gradients[0].tensor,
                                   .dk = call.input_gradients[1].tensor,
                                   .dv = call.input_gradients[2].tensor};
  if (call.collective.kind == plan::Collective::ring) {
    return ring_attention_backward(backward, *context.ranks.ring, *context.ranks.collectives,
                                   call.scratch, context.execution);
  }
  engine::attention_backward(backward, call.scratch, context.execution);
}

}  // namespace fourhold::engine

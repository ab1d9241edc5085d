#include "fourhold/engine/executor/operations.h"
#include "fourhold/engine/kernels/activation.h"
#include "fourhold/engine/kernels/elementwise.h"
#include "fourhold/engine/kernels/norm.h"

namespace fourhold::engine {
namespace {

Activation activation_of(const OperationCall& call, const OperationContext& context) {
  switch (call.operation->activation) {
    case model::ActivationKind::relu:
      return Activation::relu;
    case model::ActivationKind::silu:
      return Activation::silu;
    case model::ActivationKind::gelu:
      break;
  }
  return context.model.numerics.gelu == model::GeluForm::tanh ? Activation::gelu_tanh
                                                              : Activation::gelu;
}

// Rows whose width is that of the norm: of a norm per head, all heads of all tokens.
Tensor rows_of_width(const Tensor& x, std::int64_t width) {
  return {x.data, x.dtype, Dims{x.elements() / width, width}};
}

std::int64_t norm_width(const OperationCall& call, const Tensor& statistics) {
  return call.inputs[0].elements() / statistics.rows();
}

}  // namespace

void norm_forward(const OperationCall& call, const OperationContext& context) {
  const std::int64_t width = norm_width(call, call.outputs[1]);
  engine::norm({.kind = call.operation->norm,
                .epsilon = static_cast<float>(context.model.numerics.norm_epsilon),
                .x = rows_of_width(call.inputs[0], width),
                .weight = call.parameters[0],
                .bias = call.parameters[1],
                .y = rows_of_width(call.outputs[0], width),
                .statistics = call.outputs[1]},
               context.execution);
}

void norm_backward(const OperationCall& call, const OperationContext& context) {
  const std::int64_t width = norm_width(call, call.outputs[1]);
  for (const Written& gradient : call.parameter_gradients) start_sum(gradient, context);
  engine::norm_backward({.kind = call.operation->norm,
                         .x = rows_of_width(call.inputs[0], width),
                         .statistics = call.outputs[1],
                         .weight = call.parameters[0],
                         .dy = rows_of_width(call.output_gradients[0], width),
                         .dx = rows_of_width(call.input_gradients[0].tensor, width),
                         .dx_destination = call.input_gradients[0].destination,
                         .dweight = call.parameter_gradients[0].tensor,
                         .dbias = call.parameter_gradients[1].tensor},
                        context.execution);
}

void activation_forward(const OperationCall& call, const OperationContext& context) {
  activate(activation_of(call, context), call.inputs[0], call.outputs[0], context.execution);
}

void activation_backward(const OperationCall& call, const OperationContext& context) {
  activate_backward(activation_of(call, context), call.inputs[0], call.output_gradients[0],
                    call.input_gradients[0].tensor, context.execution);
}

void gated_activation_forward(const OperationCall& call, const OperationContext& context) {
  gated_activate(activation_of(call, context), call.inputs[0], call.inputs[1], call.outputs[0],
                 context.execution);
}

void gated_activation_backward(const OperationCall& call, const OperationContext& context) {
  gated_activate_backward(
      activation_of(call, context), call.inputs[0], call.inputs[1], call.output_gradients[0],
      {.dgate = call.input_gradients[0].tensor, .dup = call.input_gradients[1].tensor},
      context.execution);
}

void add_forward(const OperationCall& call, const OperationContext& context) {
  engine::add(call.inputs[0], call.inputs[1], call.outputs[0], context.execution);
}

// The gradient of a sum goes to both addends; where they share its storage it is there already.
void add_backward(const OperationCall& call, const OperationContext& context) {
  const Tensor& dy = call.output_gradients[0];
  for (const Written& gradient : call.input_gradients) {
    if (!gradient.wanted() || gradient.tensor.data == dy.data) continue;
    if (gradient.destination == Destination::accumulate) {
      accumulate(dy, gradient.tensor, context.execution);
    } else {
      cast(dy, gradient.tensor, context.execution);
    }
  }
}

}  // namespace fourhold::engine

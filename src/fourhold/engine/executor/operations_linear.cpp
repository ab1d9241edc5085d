#include "fourhold/engine/executor/operations.h"
#include "fourhold/engine/kernels/elementwise.h"

namespace fourhold::engine {

void linear_forward(const OperationCall& call, const OperationContext& /*context*/) {
  call.gemms.forward.run({.left = call.inputs[0],
                          .right = call.parameters[0],
                          .output = call.outputs[0],
                          .bias = call.parameters[1]},
                         call.scratch);
}

void linear_backward(const OperationCall& call, const OperationContext& context) {
  const Tensor& dy = call.output_gradients[0];
  if (call.parameter_gradients[0].wanted()) {
    call.gemms.backward_weight.run(
        {.left = dy, .right = call.inputs[0], .output = call.parameter_gradients[0].tensor},
        call.scratch);
  }
  if (call.parameter_gradients[1].wanted()) {
    start_sum(call.parameter_gradients[1], context);
    engine::add_bias_backward(dy, call.parameter_gradients[1].tensor, context.execution);
  }
  if (call.input_gradients[0].wanted()) {
    call.gemms.backward_data.run(
        {.left = dy, .right = call.parameters[0], .output = call.input_gradients[0].tensor},
        call.scratch);
  }
}

void add_bias_forward(const OperationCall& call, const OperationContext& context) {
  engine::add_bias(call.outputs[0], call.parameters[0], context.execution);
}

void add_bias_backward(const OperationCall& call, const OperationContext& context) {
  start_sum(call.parameter_gradients[0], context);
  engine::add_bias_backward(call.output_gradients[0], call.parameter_gradients[0].tensor,
                            context.execution);
}

}  // namespace fourhold::engine

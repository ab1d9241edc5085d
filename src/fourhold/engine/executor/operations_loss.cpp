// The loss. Its gradient is made in forward, where the logits are: valid tokens were counted
// before.
#include <algorithm>
#include <cassert>

#include "fourhold/engine/executor/operations.h"
#include "fourhold/engine/kernels/cross_entropy.h"
#include "fourhold/engine/kernels/elementwise.h"

namespace fourhold::engine {
namespace {

void add_loss(const OperationCall& call, const OperationContext& context, double sum) {
  context.state.loss_sum += sum;
  call.outputs[0].as<float>()[0] =
      static_cast<float>(sum * static_cast<double>(context.state.inverse_tokens));
}

// Rows [first, first + count) of a matrix.
Tensor rows_of(const Tensor& matrix, std::int64_t first, std::int64_t count) {
  const std::int64_t width = matrix.elements() / matrix.dims[0];
  return {matrix.data + bytes_of(first * width, matrix.dtype), matrix.dtype, Dims{count, width}};
}

Tensor values_of(const Tensor& vector, std::int64_t first, std::int64_t count) {
  return {vector.data + bytes_of(first, vector.dtype), vector.dtype, Dims{count}};
}

}  // namespace

// The gradient takes the logits' place (in the list of operations, that of their log-softmax).
void cross_entropy_forward(const OperationCall& call, const OperationContext& context) {
  const Logits logits{.logits = call.inputs[0],
                      .targets = call.inputs[1],
                      .vocabulary = context.model.config.vocab};
  if (context.state.purpose == Purpose::evaluate) {
    return add_loss(call, context, cross_entropy_loss(logits, context.execution));
  }
  add_loss(call, context,
           cross_entropy(logits, context.state.inverse_tokens, call.outputs[1], context.execution));
}

void cross_entropy_backward(const OperationCall& call, const OperationContext&) {
  assert(call.input_gradients[0].tensor.data == call.outputs[1].data &&
         "the gradient stands where forward left it");
  static_cast<void>(call);
}

// Per chunk of tokens: logits (fp32 where there is room), their gradient in the compute type, and
// what it gives for the head's input and weight.
void chunked_loss_forward(const OperationCall& call, const OperationContext& context) {
  const Tensor& x = call.inputs[0];
  const Tensor& targets = call.inputs[1];
  const Tensor& dx = call.outputs[1];
  const std::int64_t rows = x.dims[0];
  const std::int64_t chunk = call.transients[0].dims[0];
  const bool wide = call.transients[1].data != nullptr;
  double sum = 0;
  for (std::int64_t first = 0; first < rows; first += chunk) {
    const std::int64_t count = std::min(chunk, rows - first);
    const LinearGemms& gemms = count == chunk ? call.gemms : call.last_gemms;
    const Tensor logits = rows_of(call.transients[wide ? 1 : 0], 0, count);
    const Tensor gradient = rows_of(call.transients[0], 0, count);
    const Tensor own = rows_of(x, first, count);
    gemms.forward.run({.left = own, .right = call.parameters[0], .output = logits}, call.scratch);
    const Logits of_chunk{.logits = logits,
                          .targets = values_of(targets, first, count),
                          .vocabulary = context.model.config.vocab};
    if (context.state.purpose == Purpose::evaluate) {
      sum += cross_entropy_loss(of_chunk, context.execution);
      continue;
    }
    sum += cross_entropy(of_chunk, context.state.inverse_tokens, gradient, context.execution);
    gemms.backward_data.run(
        {.left = gradient, .right = call.parameters[0], .output = rows_of(dx, first, count)},
        call.scratch);
    if (!call.parameter_gradients[0].wanted()) continue;
    if (first == 0) start_sum(call.parameter_gradients[0], context);
    gemms.backward_weight.run(
        {.left = gradient, .right = own, .output = call.parameter_gradients[0].tensor},
        call.scratch);
  }
  add_loss(call, context, sum);
}

}  // namespace fourhold::engine

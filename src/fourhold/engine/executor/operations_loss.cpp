// The loss. Its gradient is made in forward, where the logits are: valid tokens were counted
// before.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>

#include "fourhold/engine/executor/operation_operands.h"
#include "fourhold/engine/executor/operations.h"
#include "fourhold/engine/kernels/cross_entropy.h"
#include "fourhold/engine/kernels/elementwise.h"
#include "fourhold/plan/split_loss_scratch.h"

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

// This rank's columns of the vocabulary.
Logits logits_of(const OperationContext& context, const Tensor& logits, const Tensor& targets) {
  const std::int64_t local = row_elements(logits);
  const std::int64_t first = context.ranks.groups->at().tp * local;
  return {.logits = logits,
          .targets = targets,
          .vocabulary = std::clamp<std::int64_t>(context.model.config.vocab - first, 0, local),
          .first_id = first};
}

// Of a vocabulary that tp splits: each rank's largest logits, sums of exponentials and targets'
// logits, put together, give the loss and what the gradient needs. `scratch` ends in room for them
// (plan/split_loss_scratch.h). A gradient without data is not wanted.
double split_cross_entropy(const OperationCall& call, const OperationContext& context,
                           const Logits& logits, const Tensor& gradient) {
  const std::int64_t rows = logits.logits.dims[0];
  std::byte* const room =
      call.scratch.data() + call.scratch.size() - plan::kSplitLossNumbers * 4 * rows;
  const Tensor statistics{room, DType::fp32, Dims{rows, 3}};
  const Tensor log_sums{room + statistics.bytes(), DType::fp32, Dims{rows}};
  cross_entropy_statistics(logits, statistics, context.execution);
  context.ranks.collectives->merge_statistics(context.ranks.groups->of(plan::Axis::tp), statistics);
  double loss = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const std::span<const float> own = statistics.as<float>().subspan(3 * at, 3);
    log_sums.as<float>()[at] = own[0] + std::log(own[1]);
    if (logits.targets.as<std::int32_t>()[at] < 0) continue;
    loss += static_cast<double>(log_sums.as<float>()[at]) - static_cast<double>(own[2]);
  }
  if (gradient.data != nullptr) {
    cross_entropy_gradient(logits, log_sums, context.state.inverse_tokens, gradient,
                           context.execution);
  }
  return loss;
}

// The sum of the rows' losses, and the gradient where there is place for it.
double loss_of(const OperationCall& call, const OperationContext& context, const Logits& logits,
               const Tensor& gradient) {
  const bool evaluates = context.state.purpose == Purpose::evaluate;
  if (context.ranks.groups->of(plan::Axis::tp).size() > 1) {
    return split_cross_entropy(call, context, logits, evaluates ? Tensor{} : gradient);
  }
  if (evaluates) return cross_entropy_loss(logits, context.execution);
  return cross_entropy(logits, context.state.inverse_tokens, gradient, context.execution);
}

}  // namespace

// The gradient takes the logits' place (in the list of operations, that of their log-softmax).
void cross_entropy_forward(const OperationCall& call, const OperationContext& context) {
  const Logits logits = logits_of(context, call.inputs[0], call.inputs[1]);
  add_loss(call, context, loss_of(call, context, logits, call.outputs[1]));
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
    const Logits of_chunk = logits_of(context, logits, values_of(targets, first, count));
    sum += loss_of(call, context, of_chunk, gradient);
    if (context.state.purpose == Purpose::evaluate) continue;
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

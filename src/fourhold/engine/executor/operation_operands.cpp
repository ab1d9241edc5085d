#include "fourhold/engine/executor/operation_operands.h"

#include <algorithm>

namespace fourhold::engine {
namespace {

// Position of `value` in a list of operands, -1 if it is none of them.
template <class List, class Value>
int index_of(const List& list, const Value& value) {
  const auto* const found = std::find(list.begin(), list.end(), value);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

OperationCall start_call(const plan::ProgramBlock& block, const plan::Step& step,
                         const model::ModelConfig& config) {
  const model::BlockOperations& operations = block.sharded.operations;
  OperationCall call;
  call.operation = &operations.operations[static_cast<std::size_t>(step.operation)];
  require_operation(*call.operation);
  call.block = operations.block;
  if (operations.layer_kind >= 0) {
    call.layer_kind = &config.kinds[static_cast<std::size_t>(operations.layer_kind)];
  }
  call.phase = step.phase;
  call.collective = step.collective;
  return call;
}

void place_operand(const plan::Access& access, const plan::ProgramTensor& tensor,
                   const Tensor& view, OperationCall& call) {
  const model::Operation& operation = *call.operation;
  const int input = index_of(operation.inputs, access.tensor);
  const int output = index_of(operation.outputs, access.tensor);
  if (input >= 0) call.inputs[static_cast<std::size_t>(input)] = view;
  if (output >= 0) call.outputs[static_cast<std::size_t>(output)] = view;
  if (input >= 0 || output >= 0) return;  // also the gradient that a chunked loss makes
  const int of_input = index_of(operation.inputs, tensor.gradient_of);
  const int of_output = index_of(operation.outputs, tensor.gradient_of);
  if (access.mode == plan::AccessMode::read) {
    if (of_output >= 0) call.output_gradients[static_cast<std::size_t>(of_output)] = view;
  } else if (of_input >= 0) {
    call.input_gradients[static_cast<std::size_t>(of_input)] = {
        view, access.mode == plan::AccessMode::accumulate ? Destination::accumulate
                                                          : Destination::overwrite};
  }
}

std::size_t parameter_place(const OperationCall& call, std::int16_t parameter) {
  return static_cast<std::size_t>(index_of(call.operation->parameters, parameter));
}

std::int64_t row_elements(const Tensor& x) { return x.elements() / x.dims[0]; }

void prepare_forward_product(OperationCall& call, GemmStore& gemms, int threads) {
  const Tensor& x = call.inputs[0];
  GemmProblem problem;
  problem.threads = threads;
  problem.form = plan::GemmForm::forward;
  problem.sizes = {x.dims[0], row_elements(call.outputs[0]), row_elements(x)};
  problem.operands = x.dtype;
  problem.output = call.outputs[0].dtype;
  if (call.parameters[1].data != nullptr) problem.bias = call.parameters[1].dtype;
  call.gemms.forward = gemms.of(problem);
}

}  // namespace fourhold::engine

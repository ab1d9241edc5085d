#include <string>

#include "fourhold/base/error.h"
#include "fourhold/engine/executor/operations.h"
#include "fourhold/engine/kernels/elementwise.h"

namespace fourhold::engine {
namespace {

using Function = void (*)(const OperationCall&, const OperationContext&);

struct Directions {
  Function forward = nullptr;
  Function backward = nullptr;  // null where forward has made the gradients
};

Directions directions_of(model::OpKind kind) {
  using model::OpKind;
  switch (kind) {
    case OpKind::embedding_lookup:
      return {embedding_lookup_forward, embedding_lookup_backward};
    case OpKind::add_positions:
      return {add_positions_forward, add_positions_backward};
    case OpKind::norm:
      return {norm_forward, norm_backward};
    case OpKind::linear:
      return {linear_forward, linear_backward};
    case OpKind::add_bias:
      return {add_bias_forward, add_bias_backward};
    case OpKind::rotary:
      return {rotary_forward, rotary_backward};
    case OpKind::attention:
      return {attention_forward, attention_backward};
    case OpKind::activation:
      return {activation_forward, activation_backward};
    case OpKind::gated_activation:
      return {gated_activation_forward, gated_activation_backward};
    case OpKind::add:
      return {add_forward, add_backward};
    case OpKind::cross_entropy:
      return {cross_entropy_forward, cross_entropy_backward};
    case OpKind::enter_branch:
    case OpKind::leave_branch:
      return {border_forward, border_backward};
    case OpKind::chunked_loss:
      return {chunked_loss_forward, nullptr};
    default:
      return {};
  }
}

}  // namespace

void run_operation(const OperationCall& call, const OperationContext& context) {
  const Directions directions = directions_of(call.operation->kind);
  const Function function =
      call.phase == plan::Phase::backward ? directions.backward : directions.forward;
  function(call, context);
}

void start_sum(const Written& gradient, const OperationContext& context) {
  if (gradient.wanted() && gradient.destination == Destination::overwrite) {
    fill_zero(gradient.tensor, context.execution);
  }
}

void require_operation(const model::Operation& operation) {
  if (directions_of(operation.kind).forward != nullptr) return;
  throw Error("model",
              "needs the operation " + std::string(model::to_string(operation.kind)) +
                  ", for which the engine has no kernel",
              "the engine trains the families of GPT-2 and Llama (gpt2, llama, mistral, qwen2, "
              "qwen3)");
}

}  // namespace fourhold::engine

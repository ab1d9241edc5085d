#include "fourhold/predict/host_operations.h"

namespace fourhold::predict {
namespace {

using model::OpKind;

int calls(OpKind kind) {
  switch (kind) {
    case OpKind::linear:
    case OpKind::dropout:
    case OpKind::attention_values:
    case OpKind::cross_entropy:
      return 2;
    case OpKind::attention_scores:
      return 4;
    case OpKind::attention:
      return 6;
    case OpKind::rotary:
      return 7;
    case OpKind::unpermute:
      return 8;
    case OpKind::permute:
      return 12;
    case OpKind::router:
      return 16;
    case OpKind::chunked_loss:
      return 8;
    case OpKind::add_bias:  // fused with its neighbour
    case OpKind::add_positions:
    case OpKind::split_latent:
    case OpKind::enter_branch:  // the collective alone
    case OpKind::leave_branch:
    case OpKind::exchange_experts:
      return 0;
    default:
      return 1;
  }
}

}  // namespace

int host_operations(const model::Operation& operation, const plan::Step& step) {
  const bool communicates = step.collective.kind != plan::Collective::none &&
                            step.collective.kind != plan::Collective::copy;
  return calls(operation.kind) + (communicates ? 1 : 0);
}

}  // namespace fourhold::predict

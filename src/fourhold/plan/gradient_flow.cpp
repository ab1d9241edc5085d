#include "fourhold/plan/gradient_flow.h"

namespace fourhold::plan {

using model::Operation;
using model::OpKind;

bool carries_gradient(const Operation& op, int output) {
  return output == 0 || op.kind == OpKind::split_latent || op.kind == OpKind::latent_assemble ||
         op.kind == OpKind::permute;
}

bool takes_gradient(const Operation& op, int input) {
  switch (op.kind) {
    case OpKind::embedding_lookup:
      return false;
    case OpKind::cross_entropy:
    case OpKind::chunked_loss:
      return input == 0;
    case OpKind::permute:
    case OpKind::unpermute:
      return input != 1;
    default:
      return true;
  }
}

bool passes_gradient_on(const Operation& op, Collective collective) {
  if (op.kind == OpKind::add || op.kind == OpKind::add_bias || op.kind == OpKind::add_positions) {
    return true;
  }
  return collective == Collective::all_reduce;
}

bool works_in_place(const Operation& op, Collective collective) {
  return op.kind == OpKind::rotary || op.kind == OpKind::dropout || collective == Collective::copy;
}

}  // namespace fourhold::plan

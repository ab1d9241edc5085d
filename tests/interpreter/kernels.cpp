#include "tests/interpreter/kernels.h"

#include "tests/interpreter/fault.h"

namespace fourhold::interpreter {
namespace {

Results no_backward(const Call&) {
  throw ProgramFault("an operation without a backward is run backward");
}

}  // namespace

Kernel kernel_of(model::OpKind kind) {
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
    case OpKind::split_latent:
      return {split_latent_forward, split_latent_backward};
    case OpKind::latent_assemble:
      return {latent_assemble_forward, latent_assemble_backward};
    case OpKind::attention:
      return {attention_forward, attention_backward};
    case OpKind::attention_scores:
      return {attention_scores_forward, attention_scores_backward};
    case OpKind::softmax:
      return {softmax_forward, softmax_backward};
    case OpKind::attention_values:
      return {attention_values_forward, attention_values_backward};
    case OpKind::dropout:
      return {dropout_forward, dropout_backward};
    case OpKind::activation:
      return {activation_forward, activation_backward};
    case OpKind::gated_activation:
      return {gated_activation_forward, gated_activation_backward};
    case OpKind::multiply:
      return {multiply_forward, multiply_backward};
    case OpKind::scale_rows:
      return {scale_rows_forward, scale_rows_backward};
    case OpKind::cast:
      return {cast_forward, cast_backward};
    case OpKind::softcap:
      return {softcap_forward, softcap_backward};
    case OpKind::router:
      return {router_forward, router_backward};
    case OpKind::permute:
      return {permute_forward, permute_backward};
    case OpKind::unpermute:
      return {unpermute_forward, unpermute_backward};
    case OpKind::concatenate:
      return {concatenate_forward, concatenate_backward};
    case OpKind::add:
      return {add_forward, add_backward};
    case OpKind::cross_entropy:
      return {cross_entropy_forward, cross_entropy_backward};
    case OpKind::chunked_loss:
      return {chunked_loss_forward, no_backward};
    case OpKind::enter_branch:
    case OpKind::leave_branch:
      return {border_forward, border_backward};
    case OpKind::exchange_experts:
      return {exchange_forward, exchange_backward};
  }
  throw ProgramFault("an operation of no known kind");
}

}  // namespace fourhold::interpreter

// The kernels, by file. Shapes as in model/operations.h; every kernel is a pure function of its
// call.
#pragma once

#include "tests/interpreter/call.h"

namespace fourhold::interpreter {

// kernels_linear.cpp
Results linear_forward(const Call& call);
Results linear_backward(const Call& call);
Results add_bias_forward(const Call& call);
Results add_bias_backward(const Call& call);

// kernels_norm.cpp
Results norm_forward(const Call& call);
Results norm_backward(const Call& call);

// kernels_elementwise.cpp
Results activation_forward(const Call& call);
Results activation_backward(const Call& call);
Results gated_activation_forward(const Call& call);
Results gated_activation_backward(const Call& call);
Results multiply_forward(const Call& call);
Results multiply_backward(const Call& call);
Results scale_rows_forward(const Call& call);
Results scale_rows_backward(const Call& call);
Results softcap_forward(const Call& call);
Results softcap_backward(const Call& call);
Results cast_forward(const Call& call);
Results cast_backward(const Call& call);
Results concatenate_forward(const Call& call);
Results concatenate_backward(const Call& call);
Results add_forward(const Call& call);
Results add_backward(const Call& call);
Results dropout_forward(const Call& call);
Results dropout_backward(const Call& call);

// kernels_tokens.cpp
Results embedding_lookup_forward(const Call& call);
Results embedding_lookup_backward(const Call& call);
Results add_positions_forward(const Call& call);
Results add_positions_backward(const Call& call);
Results rotary_forward(const Call& call);
Results rotary_backward(const Call& call);
Results split_latent_forward(const Call& call);
Results split_latent_backward(const Call& call);
Results latent_assemble_forward(const Call& call);
Results latent_assemble_backward(const Call& call);

// kernels_attention.cpp
Results attention_forward(const Call& call);
Results attention_backward(const Call& call);

// kernels_unfused_attention.cpp
Results attention_scores_forward(const Call& call);
Results attention_scores_backward(const Call& call);
Results softmax_forward(const Call& call);
Results softmax_backward(const Call& call);
Results attention_values_forward(const Call& call);
Results attention_values_backward(const Call& call);

// kernels_experts.cpp
Results router_forward(const Call& call);
Results router_backward(const Call& call);
Results permute_forward(const Call& call);
Results permute_backward(const Call& call);
Results unpermute_forward(const Call& call);
Results unpermute_backward(const Call& call);
Results exchange_forward(const Call& call);
Results exchange_backward(const Call& call);

// kernels_border.cpp: enter_branch and leave_branch
Results border_forward(const Call& call);
Results border_backward(const Call& call);

// kernels_loss.cpp
Results cross_entropy_forward(const Call& call);
Results cross_entropy_backward(const Call& call);
Results chunked_loss_forward(const Call& call);

}  // namespace fourhold::interpreter

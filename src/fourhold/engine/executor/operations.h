// The operations by kind: each knows which operands its kernels take.
#pragma once

#include "fourhold/engine/executor/operation_call.h"

namespace fourhold::engine {

// Kernels of vectors and tables only add: a gradient that is to be overwritten starts at zero.
void start_sum(const Written& gradient, const OperationContext& context);

// operations_linear.cpp
void linear_forward(const OperationCall& call, const OperationContext& context);
void linear_backward(const OperationCall& call, const OperationContext& context);
void add_bias_forward(const OperationCall& call, const OperationContext& context);
void add_bias_backward(const OperationCall& call, const OperationContext& context);

// operations_tokens.cpp
void embedding_lookup_forward(const OperationCall& call, const OperationContext& context);
void embedding_lookup_backward(const OperationCall& call, const OperationContext& context);
void add_positions_forward(const OperationCall& call, const OperationContext& context);
void add_positions_backward(const OperationCall& call, const OperationContext& context);
void rotary_forward(const OperationCall& call, const OperationContext& context);
void rotary_backward(const OperationCall& call, const OperationContext& context);
void attention_forward(const OperationCall& call, const OperationContext& context);
void attention_backward(const OperationCall& call, const OperationContext& context);

// operations_border.cpp: where a branch of the residual stream begins and ends
void border_forward(const OperationCall& call, const OperationContext& context);
void border_backward(const OperationCall& call, const OperationContext& context);

// operations_elementwise.cpp
void norm_forward(const OperationCall& call, const OperationContext& context);
void norm_backward(const OperationCall& call, const OperationContext& context);
void activation_forward(const OperationCall& call, const OperationContext& context);
void activation_backward(const OperationCall& call, const OperationContext& context);
void gated_activation_forward(const OperationCall& call, const OperationContext& context);
void gated_activation_backward(const OperationCall& call, const OperationContext& context);
void add_forward(const OperationCall& call, const OperationContext& context);
void add_backward(const OperationCall& call, const OperationContext& context);

// operations_loss.cpp
void cross_entropy_forward(const OperationCall& call, const OperationContext& context);
void cross_entropy_backward(const OperationCall& call, const OperationContext& context);
void chunked_loss_forward(const OperationCall& call, const OperationContext& context);

}  // namespace fourhold::engine

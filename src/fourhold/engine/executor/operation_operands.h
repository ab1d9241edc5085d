// Puts the operands of a step at their places in the call that the kernels get.
#pragma once

#include "fourhold/engine/executor/gemm_store.h"
#include "fourhold/engine/executor/operation_call.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/program.h"

namespace fourhold::engine {

// The call of a step of `block`, without operands. Throws Error where the engine has no kernel.
[[nodiscard]] OperationCall start_call(const plan::ProgramBlock& block, const plan::Step& step,
                                       const model::ModelConfig& config);

// Where among the operation's operands an access belongs: by input, output, or their gradients.
void place_operand(const plan::Access& access, const plan::ProgramTensor& tensor,
                   const Tensor& view, OperationCall& call);

// The place of a parameter of the block among those of the call's operation.
[[nodiscard]] std::size_t parameter_place(const OperationCall& call, std::int16_t parameter);

// Of one token: the first dimension counts tokens, all others are its elements.
[[nodiscard]] std::int64_t row_elements(const Tensor& x);

// The forward product of a linear whose operands are placed.
void prepare_forward_product(OperationCall& call, GemmStore& gemms, int threads);

}  // namespace fourhold::engine

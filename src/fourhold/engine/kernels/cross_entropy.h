// Cross-entropy of rows of logits: the loss, and the gradient of the logits in their place.
//
// logits [rows, width] fp32 or bf16; columns from `vocabulary` on are padding. targets: int32
// [rows], below 0 where a token counts for nothing. The loss of a row is log(sum exp l) -
// l[target]; `scale` is one over the valid tokens of the global batch, so that ranks, chunks and
// micro-batches add.
#pragma once

#include <cstdint>

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

struct Logits {
  Tensor logits;
  Tensor targets;
  std::int64_t vocabulary = 0;  // columns that are no padding, on this rank
  std::int64_t first_id = 0;    // the token that column 0 stands for
};

// gradient = scale (softmax - one-hot), zero for rows without a target and in padding. It has a
// type of its own, and may be the logits' storage where that is the same type. Returns the sum of
// the rows' losses, not scaled, in an order that the number of rows alone fixes. Every target is
// one of this rank's columns: for a vocabulary that is split there are the two steps below.
[[nodiscard]] double cross_entropy(const Logits& logits, float scale, const Tensor& gradient,
                                   const Execution& execution);

// The sum of losses alone, for evaluation.
[[nodiscard]] double cross_entropy_loss(const Logits& logits, const Execution& execution);

// First step where ranks split the vocabulary. statistics: fp32 [rows, 3], of this rank's columns:
// the largest logit, the sum of exp(logit - largest), and the target's logit, or 0 where the target
// is another's.
void cross_entropy_statistics(const Logits& logits, const Tensor& statistics,
                              const Execution& execution);

// Second step: `log_sums` fp32 [rows], log(sum exp l) over all ranks, gives the gradient.
void cross_entropy_gradient(const Logits& logits, const Tensor& log_sums, float scale,
                            const Tensor& gradient, const Execution& execution);

}  // namespace fourhold::engine

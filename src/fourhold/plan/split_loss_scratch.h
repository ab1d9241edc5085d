// What a loss over a vocabulary that tp splits needs beside its operands.
#pragma once

#include <cstdint>

namespace fourhold::plan {

// fp32 numbers of one token: the largest logit, the sum of exponentials and the target's logit,
// which ranks put together, and the logarithm of the sum that results.
inline constexpr std::int64_t kSplitLossNumbers = 4;

// Of `rows` tokens whose logits exist together; 0 where the vocabulary is whole.
[[nodiscard]] constexpr std::int64_t split_loss_scratch_bytes(std::int64_t tp, std::int64_t rows) {
  return tp == 1 ? 0 : kSplitLossNumbers * 4 * rows;
}

}  // namespace fourhold::plan

// What fused attention needs beside its tensors: the rule that the ledger's scratch entry is made
// from and that the kernels lay their scratch out by.
#pragma once

#include <cstdint>

#include "fourhold/base/checked.h"

namespace fourhold::plan {

// Attention works on blocks of so many queries and keys, whatever the instruction set.
inline constexpr std::int64_t kAttentionBlock = 64;
// Widths of heads are padded to whole vectors of the widest instruction set, 16 fp32.
inline constexpr std::int64_t kAttentionLanes = 16;

[[nodiscard]] constexpr std::int64_t padded_head_dim(std::int64_t head_dim) {
  return (head_dim + kAttentionLanes - 1) / kAttentionLanes * kAttentionLanes;
}

[[nodiscard]] constexpr std::int64_t attention_blocks(std::int64_t tokens) {
  return ceil_divide(tokens, kAttentionBlock);
}

// fp32 numbers one thread holds in forward: q^T, k, v, out^T of one block each, its probabilities,
// and the running maximum, sum and factor of each query.
[[nodiscard]] inline std::int64_t attention_forward_floats(std::int64_t head_dim) {
  const std::int64_t rows = checked_multiply(kAttentionBlock, padded_head_dim(head_dim));
  return checked_multiply(4, rows) + kAttentionBlock * kAttentionBlock + 3 * kAttentionBlock;
}

// In backward: q, q^T, dout, dout^T, k, v and dq^T of one block each, probabilities and their
// gradients, two numbers of each query, and dk and dv of one kv head over a whole sequence of `seq`
// tokens, because all queries and all heads of its group add to them.
[[nodiscard]] inline std::int64_t attention_backward_floats(std::int64_t seq,
                                                            std::int64_t head_dim) {
  const std::int64_t width = padded_head_dim(head_dim);
  const std::int64_t blocks = attention_blocks(seq);
  const std::int64_t block_rows = checked_multiply(kAttentionBlock, width);
  const std::int64_t own =
      checked_multiply(7, block_rows) + 2 * kAttentionBlock * kAttentionBlock + 2 * kAttentionBlock;
  return checked_add(own, checked_multiply(checked_multiply(2, blocks), block_rows));
}

// Bytes of scratch of one call, 64-byte aligned. `seq`: tokens of one sequence on this rank.
[[nodiscard]] inline std::int64_t attention_forward_scratch_bytes(std::int64_t head_dim,
                                                                  std::int64_t threads) {
  return checked_multiply(4 * threads, attention_forward_floats(head_dim));
}
[[nodiscard]] inline std::int64_t attention_backward_scratch_bytes(std::int64_t seq,
                                                                   std::int64_t head_dim,
                                                                   std::int64_t threads) {
  return checked_multiply(4 * threads, attention_backward_floats(seq, head_dim));
}

// Attention of a few new tokens over a cache: one query and its output in fp32, and the scores of
// one block of keys.
[[nodiscard]] inline std::int64_t cached_attention_floats(std::int64_t head_dim) {
  return checked_add(checked_multiply(2, padded_head_dim(head_dim)), kAttentionBlock);
}
[[nodiscard]] inline std::int64_t cached_attention_scratch_bytes(std::int64_t head_dim,
                                                                 std::int64_t threads) {
  return checked_multiply(4 * threads, cached_attention_floats(head_dim));
}

}  // namespace fourhold::plan

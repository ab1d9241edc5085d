// Fused causal attention (Dao 2023, arXiv 2307.08691): probabilities exist for one block of queries
// and keys at a time; backward makes them again from one log-sum-exp per query and head.
//
// Rows are tokens, sequence after sequence: q, out and their gradients [sequences x seq, heads,
// head_dim], k, v and theirs [sequences x seq, kv_heads, head_dim], all fp32 or all bf16. Query
// head h reads kv head h / (heads / kv_heads). A query sees itself and the keys before it, with a
// window w > 0 only the last w of these, itself included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/attention_scratch.h"

namespace fourhold::engine {

struct AttentionShape {
  std::int64_t sequences = 1;
  std::int64_t seq = 0;  // tokens of one
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;
  float scale = 0;  // of q k^T, usually 1 / sqrt(head_dim)
};

// out (without data: not wanted, where a backward needs only the other again), and log_sum_exp fp32
// [tokens, heads]: log of the sum over keys of exp(scale q k).
// `scratch` has plan::attention_forward_scratch_bytes(head_dim, threads), 64-byte aligned.
struct AttentionForward {
  AttentionShape shape;
  Tensor q, k, v;
  Tensor out;
  Tensor log_sum_exp;
};
void attention(const AttentionForward& call, std::span<std::byte> scratch,
               const Execution& execution);

// dq, dk, dv. row_sums, fp32 [tokens, heads], becomes the dot products of dout and out. `scratch`
// has plan::attention_backward_scratch_bytes(seq, head_dim, threads), 64-byte aligned. The gradient
// of a kv head is summed in fp32 over the heads of its group, in their order.
struct AttentionBackward {
  AttentionShape shape;
  Tensor q, k, v, out;
  Tensor log_sum_exp;
  Tensor dout;
  Tensor row_sums;
  Tensor dq, dk, dv;
};
void attention_backward(const AttentionBackward& call, std::span<std::byte> scratch,
                        const Execution& execution);

// Throws Error where a model's attention is not what these kernels compute: latent heads, values of
// another width, a cap of the scores, sinks, linear biases (ALiBi), or a `dropout` of probabilities
// (the one in effect, which a profile may have turned off).
void require_attention_kernel(const model::ModelConfig& config, const model::Attention& attention,
                              double dropout);

}  // namespace fourhold::engine

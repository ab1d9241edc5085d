// Attention of queries to keys that come one part after another, as those of other ranks do: each
// visit adds what the queries see of one part, by the log-sum-exp of what they have seen so far
// (Liu 2023, arXiv 2310.01889, sec. 3). What is added to stays fp32 from visit to visit, so that a
// result is rounded once. Parts may come in any order; the order decides the last bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/kernels/positions.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/plan/ring_scratch.h"

namespace fourhold::engine {

// Rows as for attention.h, of as many sequences each; a query sees the keys at its position and
// before, within the window. Queries and keys may be different numbers of tokens.
struct PartialAttentionShape {
  Positions queries;
  Positions keys;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // 0: none
  float scale = 0;
};

enum class Visit : std::uint8_t {
  first,  // nothing has been seen before
  later,
};

// `seen`, plan::partial_attention_bytes, is the state between visits. v without data: only the
// log-sum-exp is wanted. `scratch` has plan::attention_forward_scratch_bytes.
struct PartialAttention {
  PartialAttentionShape shape;
  Tensor q, k, v;
  std::span<std::byte> seen;
};
void attend_to_part(const PartialAttention& call, Visit visit, std::span<std::byte> scratch,
                    const Execution& execution);

// After the last visit, when every query has seen a key: out (without data: not wanted) and
// log_sum_exp, as of attention().
struct AttentionSeen {
  PartialAttentionShape shape;  // its keys are not looked at
  std::span<std::byte> seen;
  Tensor out;
  Tensor log_sum_exp;
};
void finish_attention(const AttentionSeen& call, std::span<std::byte> scratch,
                      const Execution& execution);

// Backward of one part: adds to the gradient of the queries, which is kept in `dq_seen`
// (plan::partial_gradient_bytes), and makes dk and dv, what these queries give to this part's keys,
// fp32 or the type of k. out and log_sum_exp are those of all parts; row_sums becomes the dot
// products of dout and out. `scratch` has plan::attention_backward_scratch_bytes for the keys'
// tokens in whole blocks (plan::partial_attention_tokens).
struct PartialAttentionBackward {
  PartialAttentionShape shape;
  Tensor q, k, v, out;
  Tensor log_sum_exp;
  Tensor dout;
  Tensor row_sums;
  std::span<std::byte> dq_seen;
  Tensor dk, dv;
};
void attend_to_part_backward(const PartialAttentionBackward& call, Visit visit,
                             std::span<std::byte> scratch, const Execution& execution);

// After the last visit: dq. `scratch` as for a visit.
struct QueryGradientSeen {
  PartialAttentionShape shape;
  std::span<std::byte> dq_seen;
  Tensor dq;
};
void finish_query_gradient(const QueryGradientSeen& call, std::span<std::byte> scratch,
                           const Execution& execution);

}  // namespace fourhold::engine

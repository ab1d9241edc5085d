// Causal attention of a few new tokens over the keys and values of all tokens before them, which
// are kept in a cache from call to call.
//
// Rows of the cache are tokens, sequence after sequence: [sequences x capacity, kv_heads,
// head_dim], of which each sequence fills its own from the front. Else as attention.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/execution.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

struct CachedAttention {
  AttentionShape shape;     // seq: new tokens of each sequence
  std::int64_t cached = 0;  // tokens of each sequence that came before
  Tensor q, k, v;           // of the new tokens
  Tensor k_cache, v_cache;  // new rows are written behind the `cached` first ones
  Tensor out;
  Tensor log_sum_exp;
};

// cached + seq is at most the capacity. `scratch` has
// plan::cached_attention_scratch_bytes(head_dim, threads), 64-byte aligned.
void cached_attention(const CachedAttention& call, std::span<std::byte> scratch,
                      const Execution& execution);

}  // namespace fourhold::engine

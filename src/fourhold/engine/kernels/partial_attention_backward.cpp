#include <algorithm>
#include <cassert>

#include "fourhold/engine/kernels/partial_attention.h"
#include "fourhold/engine/kernels/query_blocks.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/partial_attention_backward.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/attention_backward_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

float* gradient_of(std::byte* dq_seen, const QueryBlock& block, const HeadRule& rule) {
  return reinterpret_cast<float*>(dq_seen) +
         block.number * plan::partial_gradient_floats(rule.head_dim);
}

// Adds one head's queries to dq^T, dk and dv.
template <typename T>
void backward_head(const PartialAttentionBackward& call, const HeadRule& rule, const Head<T>& head,
                   std::int64_t sequence, std::int64_t h, Visit visit, BackwardScratch& scratch) {
  const QueryBlocks blocks{call.shape};
  for (std::int64_t i = 0; i < blocks.of_head(); ++i) {
    const QueryBlock block = blocks.at(sequence, h, i);
    scratch.dq_transposed = gradient_of(call.dq_seen.data(), block, rule);
    if (visit == Visit::first) {
      std::fill_n(scratch.dq_transposed, kBlock * rule.width, 0.0F);
    }
    if (!sees_any(Sight{rule.window}, block.position, block.queries, call.shape.keys)) continue;
    load_queries(rule, head, block.token, block.queries, scratch);
    backward_block(rule, head, block.position, block.queries, call.shape.keys, Start::sum, scratch);
  }
}

// Gradients of one head of one sequence's keys, from whole blocks of each piece.
template <typename G>
void store_key_gradients(const PartialAttentionShape& shape, const float* from, float factor, G* to,
                         std::int64_t to_row) {
  const std::int64_t width = plan::padded_head_dim(shape.head_dim);
  const std::int64_t tokens = shape.keys.piece_tokens();
  const std::int64_t rows = plan::attention_blocks(tokens) * kBlock;
  for (std::int64_t piece = 0; piece < shape.keys.pieces; ++piece) {
    narrow_rows(from + piece * rows * width, width, tokens, shape.head_dim, factor,
                to + piece * tokens * to_row, to_row);
  }
}

template <typename T>
void backward_group(const PartialAttentionBackward& call, std::int64_t sequence,
                    std::int64_t kv_head, Visit visit, BackwardScratch& scratch) {
  const PartialAttentionShape& shape = call.shape;
  const HeadRule rule = head_rule(shape);
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t q_row = shape.heads * shape.head_dim;
  const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
  const std::int64_t token = sequence * shape.queries.tokens;
  const std::int64_t kv = sequence * shape.keys.tokens * kv_row + kv_head * shape.head_dim;
  std::fill(scratch.dk, scratch.dk + 2 * (scratch.dv - scratch.dk), 0.0F);
  for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
    const std::int64_t q = token * q_row + h * shape.head_dim;
    const std::int64_t number = token * shape.heads + h;
    const Head<T> head{call.q.as<const T>().data() + q,
                       call.k.as<const T>().data() + kv,
                       call.v.as<const T>().data() + kv,
                       call.out.as<const T>().data() + q,
                       call.dout.as<const T>().data() + q,
                       call.log_sum_exp.as<const float>().data() + number,
                       call.row_sums.as<float>().data() + number,
                       q_row,
                       kv_row,
                       shape.heads};
    backward_head(call, rule, head, sequence, h, visit, scratch);
  }
  with_type(call.dk.dtype, [&](auto type) {
    using G = decltype(type);
    store_key_gradients(shape, scratch.dk, shape.scale, call.dk.as<G>().data() + kv, kv_row);
    store_key_gradients(shape, scratch.dv, 1.0F, call.dv.as<G>().data() + kv, kv_row);
  });
}

void backward_all(const PartialAttentionBackward& call, Visit visit, float* scratch, int threads) {
  const PartialAttentionShape& shape = call.shape;
  const std::int64_t tokens =
      plan::partial_attention_tokens(shape.keys.pieces, shape.keys.piece_tokens());
  const std::int64_t own_floats = plan::attention_backward_floats(tokens, shape.head_dim);
  with_type(call.q.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(shape.queries.sequences * shape.kv_heads, threads, [&](const Share& share) {
      BackwardScratch own(scratch + share.worker * own_floats, plan::attention_blocks(tokens),
                          plan::padded_head_dim(shape.head_dim));
      for (std::int64_t item = share.begin; item < share.end; ++item) {
        backward_group<T>(call, item / shape.kv_heads, item % shape.kv_heads, visit, own);
      }
    });
  });
}

void finish_all(const QueryGradientSeen& call, float* scratch, int threads) {
  const PartialAttentionShape& shape = call.shape;
  const HeadRule rule = head_rule(shape);
  const std::int64_t row = shape.heads * shape.head_dim;
  with_type(call.dq.dtype, [&](auto type) {
    using T = decltype(type);
    for_each_query_block(shape, threads, [&](const QueryBlock& block, std::int64_t worker) {
      float* own = scratch + worker * plan::partial_gradient_floats(shape.head_dim);
      const std::int64_t token = block.sequence * shape.queries.tokens + block.token;
      store_query_gradients(rule, gradient_of(call.dq_seen.data(), block, rule), block.queries, own,
                            call.dq.as<T>().data() + token * row + block.head * shape.head_dim,
                            row);
    });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {
HWY_EXPORT(backward_all);
HWY_EXPORT(finish_all);

[[nodiscard]] [[maybe_unused]] bool has_backward_memory(const PartialAttentionShape& shape,
                                                        std::span<const std::byte> dq_seen,
                                                        std::span<const std::byte> scratch,
                                                        int threads) {
  const std::int64_t tokens =
      plan::partial_attention_tokens(shape.keys.pieces, shape.keys.piece_tokens());
  return holds(dq_seen, plan::partial_gradient_bytes(query_sizes(shape))) &&
         holds(scratch, plan::attention_backward_scratch_bytes(tokens, shape.head_dim, threads));
}

}  // namespace

void attend_to_part_backward(const PartialAttentionBackward& call, Visit visit,
                             std::span<std::byte> scratch, const Execution& execution) {
  assert(has_backward_memory(call.shape, call.dq_seen, scratch, execution.threads));
  run_version(HWY_DISPATCH_TABLE(backward_all), scratch, execution, call, visit);
}

void finish_query_gradient(const QueryGradientSeen& call, std::span<std::byte> scratch,
                           const Execution& execution) {
  assert(has_backward_memory(call.shape, call.dq_seen, scratch, execution.threads));
  run_version(HWY_DISPATCH_TABLE(finish_all), scratch, execution, call);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

#include <algorithm>
#include <cassert>

#include "fourhold/engine/kernels/partial_attention.h"
#include "fourhold/engine/kernels/query_blocks.h"

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
void backward_group(const PartialAttentionBackward& call, const KvHead& kv_head, Visit visit,
                    BackwardScratch& scratch) {
  const PartialAttentionShape& shape = call.shape;
  const HeadRule rule = head_rule(shape);
  for_each_query_head<T>(call, kv_head, scratch, [&](const Head<T>& head, std::int64_t h) {
    backward_head(call, rule, head, kv_head.sequence, h, visit, scratch);
  });
  const std::int64_t kv = kv_head.offset(shape);
  const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
  with_type(call.dk.dtype, [&](auto type) {
    using G = decltype(type);
    store_key_gradients(shape, scratch.dk, shape.scale, call.dk.as<G>().data() + kv, kv_row);
    store_key_gradients(shape, scratch.dv, 1.0F, call.dv.as<G>().data() + kv, kv_row);
  });
}

void backward_all(const PartialAttentionBackward& call, Visit visit, float* scratch, int threads) {
  const Positions& keys = call.shape.keys;
  const std::int64_t queries = call.shape.queries.tokens;
  for_each_kv_head(
      call, call.shape.queries.sequences,
      plan::partial_attention_tokens(keys.pieces, keys.piece_tokens()), scratch, threads,
      [&](auto type, std::int64_t sequence, std::int64_t number, BackwardScratch& own) {
        backward_group<decltype(type)>(
            call, {sequence, number, sequence * queries, sequence * keys.tokens}, visit, own);
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

#include "fourhold/engine/kernels/partial_attention.h"

#include <algorithm>
#include <cassert>

#include "fourhold/engine/kernels/query_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/partial_attention.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/attention_forward_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

// The scratch of one thread, whose output, largest and sums are the state of one block.
ForwardScratch scratch_over(float* own, std::byte* seen, std::int64_t number,
                            const HeadRule& rule) {
  ForwardScratch scratch(own, rule.width);
  scratch.out_transposed =
      reinterpret_cast<float*>(seen) + number * plan::partial_attention_floats(rule.head_dim);
  scratch.largest = scratch.out_transposed + kBlock * rule.width;
  scratch.sums = scratch.largest + kBlock;
  return scratch;
}

template <typename T>
void attend_block(const PartialAttention& call, const HeadRule& rule, const QueryBlock& block,
                  Visit visit, ForwardScratch& scratch) {
  const PartialAttentionShape& shape = call.shape;
  if (visit == Visit::first) {
    start_softmax(scratch);
    std::fill_n(scratch.out_transposed, kBlock * rule.width, 0.0F);
  }
  const std::int64_t q_row = shape.heads * shape.head_dim;
  const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
  const std::int64_t kv_head = block.head / (shape.heads / shape.kv_heads);
  const std::int64_t kv = block.sequence * shape.keys.tokens * kv_row + kv_head * shape.head_dim;
  const std::int64_t query = block.sequence * shape.queries.tokens + block.token;
  const KeyRows<T> rows{call.k.as<const T>().data() + kv,
                        call.v.data == nullptr ? nullptr : call.v.as<const T>().data() + kv,
                        kv_row};
  const Sight sight{rule.window};
  if (!sees_any(sight, block.position, block.queries, shape.keys)) return;
  load_queries(rule, call.q.as<const T>().data() + query * q_row + block.head * rule.head_dim,
               q_row, block.queries, scratch);
  for_each_block_seen(sight, block.position, block.queries, shape.keys,
                      [&](std::int64_t behind, std::int64_t key, std::int64_t keys, std::int64_t) {
                        attend(rule, rows, behind, key, keys, Start::scaled_sum, scratch);
                      });
}

// Calls body(rule, block, scratch over its state) for all blocks.
template <class Body>
void for_each_state(const PartialAttentionShape& shape, std::byte* seen, float* scratch,
                    int threads, const Body& body) {
  const HeadRule rule = head_rule(shape);
  const std::int64_t own_floats = plan::attention_forward_floats(shape.head_dim);
  for_each_query_block(shape, threads, [&](const QueryBlock& block, std::int64_t worker) {
    ForwardScratch own = scratch_over(scratch + worker * own_floats, seen, block.number, rule);
    body(rule, block, own);
  });
}

void attend_all(const PartialAttention& call, Visit visit, float* scratch, int threads) {
  with_type(call.q.dtype, [&](auto type) {
    using T = decltype(type);
    for_each_state(call.shape, call.seen.data(), scratch, threads,
                   [&](const HeadRule& rule, const QueryBlock& block, ForwardScratch& own) {
                     attend_block<T>(call, rule, block, visit, own);
                   });
  });
}

void finish_all(const AttentionSeen& call, float* scratch, int threads) {
  const std::int64_t heads = call.shape.heads;
  const auto finish = [&](auto type) {
    using T = decltype(type);
    for_each_state(
        call.shape, call.seen.data(), scratch, threads,
        [&](const HeadRule& rule, const QueryBlock& block, ForwardScratch& own) {
          const std::int64_t row = block.sequence * call.shape.queries.tokens + block.token;
          const std::int64_t number = row * heads + block.head;
          T* out =
              call.out.data == nullptr ? nullptr : call.out.as<T>().data() + number * rule.head_dim;
          finish_block<T>(
              rule,
              {out, heads * rule.head_dim, call.log_sum_exp.as<float>().data() + number, heads},
              block.queries, own);
        });
  };
  with_type(call.out.data == nullptr ? DType::fp32 : call.out.dtype, finish);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourhold::engine {
namespace {
HWY_EXPORT(attend_all);
HWY_EXPORT(finish_all);

[[nodiscard]] [[maybe_unused]] bool has_forward_memory(const PartialAttentionShape& shape,
                                                       std::span<const std::byte> seen,
                                                       std::span<const std::byte> scratch,
                                                       int threads) {
  return holds(seen, plan::partial_attention_bytes(query_sizes(shape))) &&
         holds(scratch, plan::attention_forward_scratch_bytes(shape.head_dim, threads));
}

}  // namespace

void attend_to_part(const PartialAttention& call, Visit visit, std::span<std::byte> scratch,
                    const Execution& execution) {
  assert(has_forward_memory(call.shape, call.seen, scratch, execution.threads));
  run_version(HWY_DISPATCH_TABLE(attend_all), scratch, execution, call, visit);
}

void finish_attention(const AttentionSeen& call, std::span<std::byte> scratch,
                      const Execution& execution) {
  assert(has_forward_memory(call.shape, call.seen, scratch, execution.threads));
  run_version(HWY_DISPATCH_TABLE(finish_all), scratch, execution, call);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

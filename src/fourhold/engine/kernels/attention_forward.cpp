#include <cassert>

#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/kernels/query_blocks.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/attention_forward.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/attention_forward_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_block(const AttentionForward& call, const HeadRule& rule, std::int64_t sequence,
                   std::int64_t h, std::int64_t block, ForwardScratch& scratch) {
  const AttentionShape& shape = call.shape;
  const std::int64_t first = block * kBlock;
  const std::int64_t queries = std::min(kBlock, shape.seq - first);
  const std::int64_t token = sequence * shape.seq;
  const std::int64_t q_row = shape.heads * shape.head_dim;
  const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
  const std::int64_t kv_head = h / (shape.heads / shape.kv_heads);
  const std::int64_t kv = token * kv_row + kv_head * shape.head_dim;
  const std::int64_t q = (token + first) * q_row + h * shape.head_dim;
  const bool wanted = call.out.data != nullptr;
  const KeyRows<T> rows{call.k.as<const T>().data() + kv,
                        wanted ? call.v.as<const T>().data() + kv : nullptr, kv_row};
  load_queries(rule, call.q.as<const T>().data() + q, q_row, queries, scratch);
  start_softmax(scratch);
  Start start = Start::zero;
  for_each_block_seen(Sight{rule.window}, first, queries, {.tokens = shape.seq},
                      [&](std::int64_t behind, std::int64_t key, std::int64_t keys, std::int64_t) {
                        attend(rule, rows, behind, key, keys, start, scratch);
                        start = Start::scaled_sum;
                      });
  finish_block<T>(
      rule,
      {wanted ? call.out.as<T>().data() + q : nullptr, q_row,
       call.log_sum_exp.as<float>().data() + (token + first) * shape.heads + h, shape.heads},
      queries, scratch);
}

void forward_all(const AttentionForward& call, float* scratch, int threads) {
  const AttentionShape& shape = call.shape;
  const HeadRule rule = head_rule(shape);
  const std::int64_t own_floats = plan::attention_forward_floats(shape.head_dim);
  const std::int64_t blocks = plan::attention_blocks(shape.seq);
  with_type(call.q.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(shape.sequences * shape.heads * blocks, threads, [&](const Share& share) {
      ForwardScratch own(scratch + share.worker * own_floats, rule.width);
      for (std::int64_t item = share.begin; item < share.end; ++item) {
        forward_block<T>(call, rule, item / (shape.heads * blocks), item / blocks % shape.heads,
                         from_both_ends(item % blocks, blocks), own);
      }
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
HWY_EXPORT(forward_all);
}  // namespace

void attention(const AttentionForward& call, std::span<std::byte> scratch,
               const Execution& execution) {
  assert(static_cast<std::int64_t>(scratch.size()) >=
             plan::attention_forward_scratch_bytes(call.shape.head_dim, execution.threads) &&
         "scratch is what the rule says");
  HWY_DISPATCH_TABLE(forward_all)
  [version_of(execution.isa)](call, reinterpret_cast<float*>(scratch.data()), execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

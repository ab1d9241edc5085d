#include <algorithm>
#include <cassert>

#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/attention_backward_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void backward_head(const AttentionBackward& call, const HeadRule& rule, const Head<T>& head, T* dq,
                   BackwardScratch& scratch) {
  const std::int64_t seq = call.shape.seq;
  for (std::int64_t first = 0; first < seq; first += kBlock) {
    const std::int64_t queries = std::min(kBlock, seq - first);
    load_queries(rule, head, first, queries, scratch);
    backward_block(rule, head, first, queries, {.tokens = seq}, Start::zero, scratch);
    store_query_gradients(rule, scratch.dq_transposed, queries, scratch.k, dq + first * head.q_row,
                          head.q_row);
  }
}

template <typename T>
void backward_group(const AttentionBackward& call, const KvHead& kv_head,
                    BackwardScratch& scratch) {
  const AttentionShape& shape = call.shape;
  const HeadRule rule = head_rule(shape);
  const std::int64_t q_row = shape.heads * shape.head_dim;
  for_each_query_head<T>(call, kv_head, scratch, [&](const Head<T>& head, std::int64_t h) {
    const std::int64_t q = kv_head.query_token * q_row + h * shape.head_dim;
    backward_head(call, rule, head, call.dq.as<T>().data() + q, scratch);
  });
  const std::int64_t kv = kv_head.offset(shape);
  const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
  narrow_rows(scratch.dk, rule.width, shape.seq, shape.head_dim, shape.scale,
              call.dk.as<T>().data() + kv, kv_row);
  narrow_rows(scratch.dv, rule.width, shape.seq, shape.head_dim, 1.0F, call.dv.as<T>().data() + kv,
              kv_row);
}

void backward_all(const AttentionBackward& call, float* scratch, int threads) {
  const std::int64_t seq = call.shape.seq;
  for_each_kv_head(
      call, call.shape.sequences, seq, scratch, threads,
      [&](auto type, std::int64_t sequence, std::int64_t number, BackwardScratch& own) {
        backward_group<decltype(type)>(call, {sequence, number, sequence * seq, sequence * seq},
                                       own);
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
}  // namespace

void attention_backward(const AttentionBackward& call, std::span<std::byte> scratch,
                        const Execution& execution) {
  assert(static_cast<std::int64_t>(scratch.size()) >=
             plan::attention_backward_scratch_bytes(call.shape.seq, call.shape.head_dim,
                                                    execution.threads) &&
         "scratch is what the rule says");
  HWY_DISPATCH_TABLE(backward_all)
  [version_of(execution.isa)](call, reinterpret_cast<float*>(scratch.data()), execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

#include <algorithm>
#include <cassert>

#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

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

// A kv head of a sequence and the query heads of its group, one after another.
template <typename T>
void backward_group(const AttentionBackward& call, std::int64_t sequence, std::int64_t kv_head,
                    BackwardScratch& scratch) {
  const AttentionShape& shape = call.shape;
  const HeadRule rule = head_rule(shape);
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t q_row = shape.heads * shape.head_dim;
  const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
  const std::int64_t token = sequence * shape.seq;
  const std::int64_t kv = token * kv_row + kv_head * shape.head_dim;
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
    backward_head(call, rule, head, call.dq.as<T>().data() + q, scratch);
  }
  narrow_rows(scratch.dk, rule.width, shape.seq, shape.head_dim, shape.scale,
              call.dk.as<T>().data() + kv, kv_row);
  narrow_rows(scratch.dv, rule.width, shape.seq, shape.head_dim, 1.0F, call.dv.as<T>().data() + kv,
              kv_row);
}

void backward_all(const AttentionBackward& call, float* scratch, int threads) {
  const AttentionShape& shape = call.shape;
  const std::int64_t own_floats = plan::attention_backward_floats(shape.seq, shape.head_dim);
  with_type(call.q.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(shape.sequences * shape.kv_heads, threads, [&](const Share& share) {
      BackwardScratch own(scratch + share.worker * own_floats, plan::attention_blocks(shape.seq),
                          plan::padded_head_dim(shape.head_dim));
      for (std::int64_t item = share.begin; item < share.end; ++item) {
        backward_group<T>(call, item / shape.kv_heads, item % shape.kv_heads, own);
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

#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/attention_forward.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/attention_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

// Queries stand in lanes: scores are made transposed, [keys, queries], so that a maximum or a sum
// over keys never crosses lanes. Scores are logarithms to base two.
struct ForwardScratch {
  float* q_transposed;    // [width, kBlock]
  float* k;               // [kBlock, width]
  float* v;               // [kBlock, width]
  float* out_transposed;  // [width, kBlock]
  float* scores;          // [kBlock keys, kBlock queries], then probabilities
  float* largest;         // [kBlock]
  float* sums;
  float* factors;

  ForwardScratch(float* own, std::int64_t width) {
    const std::int64_t rows = kBlock * width;
    q_transposed = own;
    k = q_transposed + rows;
    v = k + rows;
    out_transposed = v + rows;
    scores = out_transposed + rows;
    largest = scores + kBlock * kBlock;
    sums = largest + kBlock;
    factors = sums + kBlock;
  }
};

// Turns scores into probabilities relative to the largest so far, and says by what the sums before
// must be multiplied.
void advance_softmax(std::int64_t keys, ForwardScratch& scratch) {
  for (std::int64_t query = 0; query < kBlock; query += kLanes) {
    const Vector before = load(scratch.largest + query);
    Vector largest = before;
    for (std::int64_t key = 0; key < keys; ++key) {
      largest = hn::Max(largest, load(scratch.scores + key * kBlock + query));
    }
    Vector sum = splat(0);
    for (std::int64_t key = 0; key < keys; ++key) {
      float* at = scratch.scores + key * kBlock + query;
      const Vector probability = exponential_of_two(hn::Sub(load(at), largest));
      sum = hn::Add(sum, probability);
      store(probability, at);
    }
    const Vector factor = exponential_of_two(hn::Sub(before, largest));
    store(factor, scratch.factors + query);
    store(hn::MulAdd(load(scratch.sums + query), factor, sum), scratch.sums + query);
    store(largest, scratch.largest + query);
  }
}

template <typename T>
struct HeadRows {
  const T* q;
  const T* k;
  const T* v;
  T* out;  // null: the log-sum-exp alone
  float* log_sum_exp;
  std::int64_t q_row;    // elements from one token to the next, of q and out
  std::int64_t kv_row;   // of k and v
  std::int64_t lse_row;  // of log_sum_exp
};

// One block of queries of one head.
template <typename T>
void forward_block(const AttentionShape& shape, const HeadRows<T>& head, std::int64_t query_block,
                   ForwardScratch& scratch) {
  const std::int64_t dim = shape.head_dim;
  const std::int64_t width = plan::padded_head_dim(dim);
  const std::int64_t first = query_block * kBlock;
  const std::int64_t queries = std::min(kBlock, shape.seq - first);
  const Sight sight{shape.window};
  widen_rows(head.q + first * head.q_row, head.q_row, queries, dim, kBlock, width, scratch.k);
  transpose(scratch.k, kBlock, width, shape.scale * std::numbers::log2e_v<float>,
            scratch.q_transposed);
  for (std::int64_t i = 0; i < kBlock; ++i) {
    scratch.largest[i] = -1e30F;  // below any score, and finite
    scratch.sums[i] = 0;
  }
  const std::int64_t first_keys = sight.first_block(query_block);
  for (std::int64_t block = first_keys; block <= query_block; ++block) {
    const std::int64_t keys = std::min(kBlock, shape.seq - block * kBlock);
    const std::int64_t even_keys = keys + keys % 2;
    const std::int64_t offset = block * kBlock * head.kv_row;
    widen_rows(head.k + offset, head.kv_row, keys, dim, even_keys, width, scratch.k);
    multiply_blocks({.left = scratch.k,
                     .left_row = width,
                     .left_inner = 1,
                     .right = scratch.q_transposed,
                     .right_row = kBlock,
                     .result = scratch.scores,
                     .result_row = kBlock,
                     .rows = even_keys,
                     .columns = kBlock,
                     .inner = dim});
    if (sight.is_edge(query_block, block)) sight.hide(query_block, block, keys, scratch.scores);
    advance_softmax(keys, scratch);
    if (head.out == nullptr) continue;
    widen_rows(head.v + offset, head.kv_row, keys, dim, even_keys, width, scratch.v);
    multiply_blocks({.left = scratch.v,
                     .left_row = 1,
                     .left_inner = width,
                     .right = scratch.scores,
                     .right_row = kBlock,
                     .result = scratch.out_transposed,
                     .result_row = kBlock,
                     .rows = width,
                     .columns = kBlock,
                     .inner = keys,
                     .start = block == first_keys ? Start::zero : Start::scaled_sum,
                     .column_factors = scratch.factors});
  }
  if (head.out != nullptr) transpose(scratch.out_transposed, width, kBlock, 1.0F, scratch.k);
  for (std::int64_t i = 0; i < queries; ++i) {
    if (head.out != nullptr) {
      const float* row = scratch.k + i * width;
      T* out = head.out + (first + i) * head.q_row;
      const float share = 1.0F / scratch.sums[i];
      for_vectors(0, dim, [=](std::int64_t column, auto lanes) HWY_ATTR {
        lanes.store(hn::Mul(lanes.load(row + column), splat(share)), out + column);
      });
    }
    const double log_two =
        static_cast<double>(scratch.largest[i]) + std::log2(static_cast<double>(scratch.sums[i]));
    head.log_sum_exp[(first + i) * head.lse_row] = static_cast<float>(log_two * std::numbers::ln2);
  }
}

void forward_all(const AttentionForward& call, float* scratch, int threads) {
  const AttentionShape& shape = call.shape;
  const std::int64_t width = plan::padded_head_dim(shape.head_dim);
  const std::int64_t own_floats = plan::attention_forward_floats(shape.head_dim);
  const std::int64_t blocks = (shape.seq + kBlock - 1) / kBlock;
  const std::int64_t group = shape.heads / shape.kv_heads;
  with_type(call.q.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(shape.sequences * shape.heads * blocks, threads, [&](const Share& share) {
      ForwardScratch own(scratch + share.worker * own_floats, width);
      for (std::int64_t item = share.begin; item < share.end; ++item) {
        const std::int64_t sequence = item / (shape.heads * blocks);
        const std::int64_t h = item / blocks % shape.heads;
        // From both ends in turn, so that equal counts of blocks are about equal work.
        const std::int64_t turn = item % blocks;
        const std::int64_t block = turn % 2 == 0 ? turn / 2 : blocks - 1 - turn / 2;
        const std::int64_t token = sequence * shape.seq;
        const std::int64_t q_row = shape.heads * shape.head_dim;
        const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
        const std::int64_t kv = token * kv_row + h / group * shape.head_dim;
        const std::int64_t q = token * q_row + h * shape.head_dim;
        const HeadRows<T> head{call.q.as<const T>().data() + q,
                               call.k.as<const T>().data() + kv,
                               call.v.as<const T>().data() + kv,
                               call.out.data == nullptr ? nullptr : call.out.as<T>().data() + q,
                               call.log_sum_exp.as<float>().data() + token * shape.heads + h,
                               q_row,
                               kv_row,
                               shape.heads};
        forward_block(shape, head, block, own);
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

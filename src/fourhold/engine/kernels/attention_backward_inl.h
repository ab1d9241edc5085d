// Attention backward of one block of queries of one head. Compiled once for each target.
#if defined(FOURHOLD_ENGINE_KERNELS_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_ENGINE_KERNELS_ATTENTION_BACKWARD_INL_H_
#undef FOURHOLD_ENGINE_KERNELS_ATTENTION_BACKWARD_INL_H_
#else
#define FOURHOLD_ENGINE_KERNELS_ATTENTION_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <numbers>

#include "fourhold/engine/kernels/attention_inl.h"
#include "fourhold/engine/threads/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {

// As in forward, queries stand in lanes of everything that is [keys, queries]: then products that
// sum over queries read dout and q by rows, and those that sum over keys need no transpose.
struct BackwardScratch {
  float* q;             // [kBlock, width]
  float* q_transposed;  // [width, kBlock], scaled to logarithms of base two
  float* dout;          // [kBlock, width]
  float* dout_transposed;
  float* k;  // [kBlock, width]
  float* v;
  float* dq_transposed;  // [width, kBlock]
  float* probabilities;  // [kBlock keys, kBlock queries]
  float* gradients;      // of probabilities, then of scores
  float* log_sums;       // [kBlock], of base two
  float* row_sums;
  float* dk;  // [blocks of keys x kBlock, width]
  float* dv;

  BackwardScratch(float* own, std::int64_t blocks, std::int64_t width) {
    const std::int64_t rows = kBlock * width;
    q = own;
    q_transposed = q + rows;
    dout = q_transposed + rows;
    dout_transposed = dout + rows;
    k = dout_transposed + rows;
    v = k + rows;
    dq_transposed = v + rows;
    probabilities = dq_transposed + rows;
    gradients = probabilities + kBlock * kBlock;
    log_sums = gradients + kBlock * kBlock;
    row_sums = log_sums + kBlock;
    dk = row_sums + kBlock;
    dv = dk + blocks * rows;
  }
};

// One head of one sequence; pointers are to its first token.
template <typename T>
struct Head {
  const T* q;
  const T* k;
  const T* v;
  const T* out;
  const T* dout;
  const float* log_sum_exp;
  float* row_sums;
  std::int64_t q_row;   // elements from one token to the next, of q, out and dout
  std::int64_t kv_row;  // of k and v
  std::int64_t heads;   // of log_sum_exp and row_sums
};

// p = 2^(score - log sum), then g = p (dp - row sum): the gradient of the scaled scores.
inline void differentiate(std::int64_t keys, BackwardScratch& scratch) {
  for (std::int64_t query = 0; query < kBlock; query += kLanes) {
    const Vector log_sum = load(scratch.log_sums + query);
    const Vector row_sum = load(scratch.row_sums + query);
    for (std::int64_t key = 0; key < keys; ++key) {
      float* score = scratch.probabilities + key * kBlock + query;
      float* gradient = scratch.gradients + key * kBlock + query;
      const Vector probability = exponential_of_two(hn::Sub(load(score), log_sum));
      store(probability, score);
      store(hn::Mul(probability, hn::Sub(load(gradient), row_sum)), gradient);
    }
  }
}

// Reads the queries of a block: q, dout, their transposes, log sums and row sums.
template <typename T>
void load_queries(const HeadRule& rule, const Head<T>& head, std::int64_t first,
                  std::int64_t queries, BackwardScratch& scratch) {
  const std::int64_t dim = rule.head_dim;
  const std::int64_t width = rule.width;
  const std::int64_t at = first * head.q_row;
  widen_rows(head.q + at, head.q_row, queries, dim, kBlock, width, scratch.q);
  widen_rows(head.dout + at, head.q_row, queries, dim, kBlock, width, scratch.dout);
  transpose(scratch.q, kBlock, width, rule.scale * std::numbers::log2e_v<float>,
            scratch.q_transposed);
  transpose(scratch.dout, kBlock, width, 1.0F, scratch.dout_transposed);
  for (std::int64_t i = 0; i < kBlock; ++i) {
    // Queries behind the end have no probabilities: 2^(0 - 1e30) is 0.
    scratch.log_sums[i] = 1e30F;
    scratch.row_sums[i] = 0;
    if (i >= queries) continue;
    const T* out = head.out + at + i * head.q_row;
    const float* dout = scratch.dout + i * width;
    const std::int64_t number = (first + i) * head.heads;
    scratch.log_sums[i] = head.log_sum_exp[number] * std::numbers::log2e_v<float>;
    scratch.row_sums[i] = sum_over(dim, [=](std::int64_t column, auto lanes) HWY_ATTR {
      return hn::Mul(lanes.load(out + column), lanes.load(dout + column));
    });
    head.row_sums[number] = scratch.row_sums[i];
  }
}

// A block of keys, as queries that are `behind` see it.
struct KeyBlock {
  std::int64_t behind;
  std::int64_t first;  // token
  std::int64_t keys;
  std::int64_t number;  // among the blocks of dk and dv
};

// Adds one block of queries and one of keys to dq, dk and dv.
template <typename T>
void backward_pair(const HeadRule& rule, const Head<T>& head, const KeyBlock& block, Start start,
                   BackwardScratch& scratch) {
  const std::int64_t dim = rule.head_dim;
  const std::int64_t width = rule.width;
  const std::int64_t keys = block.keys;
  const std::int64_t even_keys = keys + keys % 2;
  const std::int64_t offset = block.first * head.kv_row;
  const Sight sight{rule.window};
  widen_rows(head.k + offset, head.kv_row, keys, dim, even_keys, width, scratch.k);
  widen_rows(head.v + offset, head.kv_row, keys, dim, even_keys, width, scratch.v);
  const auto products_with_keys = [&](const float* left, const float* right, float* result) {
    multiply_blocks({.left = left,
                     .left_row = width,
                     .left_inner = 1,
                     .right = right,
                     .right_row = kBlock,
                     .result = result,
                     .result_row = kBlock,
                     .rows = even_keys,
                     .columns = kBlock,
                     .inner = dim});
  };
  products_with_keys(scratch.k, scratch.q_transposed, scratch.probabilities);
  products_with_keys(scratch.v, scratch.dout_transposed, scratch.gradients);
  if (sight.is_edge(block.behind)) sight.hide(block.behind, keys, scratch.probabilities);
  differentiate(even_keys, scratch);
  const auto add_over_queries = [&](const float* left, const float* right, float* result) {
    multiply_blocks({.left = left,
                     .left_row = kBlock,
                     .left_inner = 1,
                     .right = right,
                     .right_row = width,
                     .result = result + block.number * kBlock * width,
                     .result_row = width,
                     .rows = even_keys,
                     .columns = width,
                     .inner = kBlock,
                     .start = Start::sum});
  };
  add_over_queries(scratch.probabilities, scratch.dout, scratch.dv);
  add_over_queries(scratch.gradients, scratch.q, scratch.dk);
  multiply_blocks({.left = scratch.k,
                   .left_row = 1,
                   .left_inner = width,
                   .right = scratch.gradients,
                   .right_row = kBlock,
                   .result = scratch.dq_transposed,
                   .result_row = kBlock,
                   .rows = width,
                   .columns = kBlock,
                   .inner = keys,
                   .start = start});
}

// Rows [count, dim] of a gradient from fp32 rows, scaled.
template <typename T>
void narrow_rows(const float* from, std::int64_t width, std::int64_t count, std::int64_t dim,
                 float factor, T* to, std::int64_t to_row) {
  for (std::int64_t row = 0; row < count; ++row, from += width, to += to_row) {
    for_vectors(0, dim, [=](std::int64_t i, auto lanes) HWY_ATTR {
      lanes.store(hn::Mul(lanes.load(from + i), splat(factor)), to + i);
    });
  }
}

// Adds what the queries of one block see of a head's keys to dq^T (from zero, if `start` says so),
// dk and dv.
template <typename T>
void backward_block(const HeadRule& rule, const Head<T>& head, std::int64_t position,
                    std::int64_t queries, const Positions& keys, Start start,
                    BackwardScratch& scratch) {
  for_each_block_seen(
      Sight{rule.window}, position, queries, keys,
      [&](std::int64_t behind, std::int64_t first, std::int64_t count, std::int64_t number) {
        backward_pair(rule, head, {behind, first, count, number}, start, scratch);
        start = Start::sum;
      });
}

// dq of one block of queries from dq^T.
template <typename T>
void store_query_gradients(const HeadRule& rule, const float* dq_transposed, std::int64_t queries,
                           float* own, T* dq, std::int64_t dq_row) {
  transpose(dq_transposed, rule.width, kBlock, 1.0F, own);
  narrow_rows(own, rule.width, queries, rule.head_dim, rule.scale, dq, dq_row);
}

// One kv head of one sequence: which, and the sequence's first rows of q and of k.
struct KvHead {
  std::int64_t sequence;
  std::int64_t number;
  std::int64_t query_token;
  std::int64_t key_token;

  template <typename Shape>
  [[nodiscard]] std::int64_t offset(const Shape& shape) const {
    return (key_token * shape.kv_heads + number) * shape.head_dim;
  }
};

// Calls each(head, h) for the query heads h that read a kv head, in their order, with dk and dv
// cleared before. `Call` is AttentionBackward or PartialAttentionBackward.
template <typename T, typename Call, typename Each>
void for_each_query_head(const Call& call, const KvHead& kv_head, BackwardScratch& scratch,
                         Each&& each) {
  const auto& shape = call.shape;
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t kv = kv_head.offset(shape);
  std::fill(scratch.dk, scratch.dk + 2 * (scratch.dv - scratch.dk), 0.0F);
  for (std::int64_t h = kv_head.number * group; h < (kv_head.number + 1) * group; ++h) {
    const std::int64_t number = kv_head.query_token * shape.heads + h;
    const std::int64_t q = number * shape.head_dim;
    each(
        Head<T>{call.q.template as<const T>().data() + q, call.k.template as<const T>().data() + kv,
                call.v.template as<const T>().data() + kv,
                call.out.template as<const T>().data() + q,
                call.dout.template as<const T>().data() + q,
                call.log_sum_exp.template as<const float>().data() + number,
                call.row_sums.template as<float>().data() + number, shape.heads * shape.head_dim,
                shape.kv_heads * shape.head_dim, shape.heads},
        h);
  }
}

// Calls each(type of q, sequence, kv head's number, scratch) for all of `sequences`, shared out to
// threads that have `scratch` for the gradients of `key_tokens` each.
template <typename Call, typename Each>
void for_each_kv_head(const Call& call, std::int64_t sequences, std::int64_t key_tokens,
                      float* scratch, int threads, Each&& each) {
  const auto& shape = call.shape;
  const std::int64_t own_floats = plan::attention_backward_floats(key_tokens, shape.head_dim);
  with_type(call.q.dtype, [&](auto type) {
    parallel_for(sequences * shape.kv_heads, threads, [&](const Share& share) {
      BackwardScratch own(scratch + share.worker * own_floats, plan::attention_blocks(key_tokens),
                          plan::padded_head_dim(shape.head_dim));
      for (std::int64_t item = share.begin; item < share.end; ++item) {
        each(type, item / shape.kv_heads, item % shape.kv_heads, own);
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

#include <cassert>
#include <cmath>
#include <numbers>

#include "fourhold/engine/kernels/attention.h"
#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/attention_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

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
  float* dk;  // [seq in whole blocks, width]
  float* dv;

  BackwardScratch(float* own, std::int64_t seq, std::int64_t width) {
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
    dv = dk + (seq + kBlock - 1) / kBlock * rows;
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
  T* dq;
  const float* log_sum_exp;
  float* row_sums;
  std::int64_t q_row;   // elements from one token to the next, of q, out and theirs
  std::int64_t kv_row;  // of k and v
  std::int64_t heads;   // of log_sum_exp and row_sums
};

// p = 2^(score - log sum), then g = p (dp - row sum): the gradient of the scaled scores.
void differentiate(std::int64_t keys, BackwardScratch& scratch) {
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
void load_queries(const AttentionShape& shape, const Head<T>& head, std::int64_t first,
                  std::int64_t queries, BackwardScratch& scratch) {
  const std::int64_t dim = shape.head_dim;
  const std::int64_t width = plan::padded_head_dim(dim);
  const std::int64_t at = first * head.q_row;
  widen_rows(head.q + at, head.q_row, queries, dim, kBlock, width, scratch.q);
  widen_rows(head.dout + at, head.q_row, queries, dim, kBlock, width, scratch.dout);
  transpose(scratch.q, kBlock, width, shape.scale * std::numbers::log2e_v<float>,
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

// Adds one block of queries and one of keys to dq, dk and dv.
template <typename T>
void backward_pair(const AttentionShape& shape, const Head<T>& head, std::int64_t query_block,
                   std::int64_t key_block, Start start, BackwardScratch& scratch) {
  const std::int64_t dim = shape.head_dim;
  const std::int64_t width = plan::padded_head_dim(dim);
  const std::int64_t keys = std::min(kBlock, shape.seq - key_block * kBlock);
  const std::int64_t even_keys = keys + keys % 2;
  const std::int64_t offset = key_block * kBlock * head.kv_row;
  const Sight sight{shape.window};
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
  if (sight.is_edge(query_block, key_block)) {
    sight.hide(query_block, key_block, keys, scratch.probabilities);
  }
  differentiate(even_keys, scratch);
  const auto add_over_queries = [&](const float* left, const float* right, float* result) {
    multiply_blocks({.left = left,
                     .left_row = kBlock,
                     .left_inner = 1,
                     .right = right,
                     .right_row = width,
                     .result = result + key_block * kBlock * width,
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

template <typename T>
void backward_head(const AttentionShape& shape, const Head<T>& head, BackwardScratch& scratch) {
  const std::int64_t width = plan::padded_head_dim(shape.head_dim);
  const Sight sight{shape.window};
  for (std::int64_t block = 0; block * kBlock < shape.seq; ++block) {
    const std::int64_t first = block * kBlock;
    const std::int64_t queries = std::min(kBlock, shape.seq - first);
    load_queries(shape, head, first, queries, scratch);
    const std::int64_t first_keys = sight.first_block(block);
    for (std::int64_t keys = first_keys; keys <= block; ++keys) {
      backward_pair(shape, head, block, keys, keys == first_keys ? Start::zero : Start::sum,
                    scratch);
    }
    transpose(scratch.dq_transposed, width, kBlock, 1.0F, scratch.k);
    narrow_rows(scratch.k, width, queries, shape.head_dim, shape.scale,
                head.dq + first * head.q_row, head.q_row);
  }
}

// A kv head of a sequence and the query heads of its group, one after another.
template <typename T>
void backward_group(const AttentionBackward& call, std::int64_t sequence, std::int64_t kv_head,
                    BackwardScratch& scratch) {
  const AttentionShape& shape = call.shape;
  const std::int64_t width = plan::padded_head_dim(shape.head_dim);
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
                       call.dq.as<T>().data() + q,
                       call.log_sum_exp.as<const float>().data() + number,
                       call.row_sums.as<float>().data() + number,
                       q_row,
                       kv_row,
                       shape.heads};
    backward_head(shape, head, scratch);
  }
  narrow_rows(scratch.dk, width, shape.seq, shape.head_dim, shape.scale,
              call.dk.as<T>().data() + kv, kv_row);
  narrow_rows(scratch.dv, width, shape.seq, shape.head_dim, 1.0F, call.dv.as<T>().data() + kv,
              kv_row);
}

void backward_all(const AttentionBackward& call, float* scratch, int threads) {
  const AttentionShape& shape = call.shape;
  const std::int64_t own_floats = plan::attention_backward_floats(shape.seq, shape.head_dim);
  with_type(call.q.dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(shape.sequences * shape.kv_heads, threads, [&](const Share& share) {
      BackwardScratch own(scratch + share.worker * own_floats, shape.seq,
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

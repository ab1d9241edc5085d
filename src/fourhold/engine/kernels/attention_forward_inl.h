// Attention forward of one block of queries of one head. Compiled once for each target.
#if defined(FOURHOLD_ENGINE_KERNELS_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURHOLD_ENGINE_KERNELS_ATTENTION_FORWARD_INL_H_
#undef FOURHOLD_ENGINE_KERNELS_ATTENTION_FORWARD_INL_H_
#else
#define FOURHOLD_ENGINE_KERNELS_ATTENTION_FORWARD_INL_H_
#endif

#include <cmath>
#include <numbers>

#include "fourhold/engine/kernels/attention_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {

// Queries stand in lanes: scores are made transposed, [keys, queries], so that a maximum or a sum
// over keys never crosses lanes. Scores are logarithms to base two.
struct ForwardScratch {
  float* q_transposed;    // [width, kBlock]
  float* k;               // [kBlock, width]
  float* v;               // [kBlock, width]
  float* out_transposed;  // [width, kBlock], not yet divided by the sums
  float* scores;          // [kBlock keys, kBlock queries], then probabilities
  float* largest;         // [kBlock], so far
  float* sums;            // of exponentials relative to it
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
inline void advance_softmax(std::int64_t keys, ForwardScratch& scratch) {
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

// Queries [kBlock, head_dim] of one head, transposed and scaled to logarithms of base two.
template <typename T>
void load_queries(const HeadRule& rule, const T* q, std::int64_t q_row, std::int64_t queries,
                  ForwardScratch& scratch) {
  widen_rows(q, q_row, queries, rule.head_dim, kBlock, rule.width, scratch.k);
  transpose(scratch.k, kBlock, rule.width, rule.scale * std::numbers::log2e_v<float>,
            scratch.q_transposed);
}

// Nothing seen yet.
inline void start_softmax(ForwardScratch& scratch) {
  for (std::int64_t i = 0; i < kBlock; ++i) {
    scratch.largest[i] = -1e30F;  // below any score, and finite
    scratch.sums[i] = 0;
  }
}

// Keys of one head, from their first token on.
template <typename T>
struct KeyRows {
  const T* k;
  const T* v;        // null: the log-sum-exp alone
  std::int64_t row;  // elements from one token to the next
};

// Adds what a block of queries sees in a block of keys to what it has seen before.
template <typename T>
void attend(const HeadRule& rule, const KeyRows<T>& rows, std::int64_t behind,
            std::int64_t first_key, std::int64_t keys, Start start, ForwardScratch& scratch) {
  const Sight sight{rule.window};
  const std::int64_t even_keys = keys + keys % 2;
  const std::int64_t offset = first_key * rows.row;
  widen_rows(rows.k + offset, rows.row, keys, rule.head_dim, even_keys, rule.width, scratch.k);
  multiply_blocks({.left = scratch.k,
                   .left_row = rule.width,
                   .left_inner = 1,
                   .right = scratch.q_transposed,
                   .right_row = kBlock,
                   .result = scratch.scores,
                   .result_row = kBlock,
                   .rows = even_keys,
                   .columns = kBlock,
                   .inner = rule.head_dim});
  if (sight.is_edge(behind)) sight.hide(behind, keys, scratch.scores);
  advance_softmax(keys, scratch);
  if (rows.v == nullptr) return;
  widen_rows(rows.v + offset, rows.row, keys, rule.head_dim, even_keys, rule.width, scratch.v);
  multiply_blocks({.left = scratch.v,
                   .left_row = 1,
                   .left_inner = rule.width,
                   .right = scratch.scores,
                   .right_row = kBlock,
                   .result = scratch.out_transposed,
                   .result_row = kBlock,
                   .rows = rule.width,
                   .columns = kBlock,
                   .inner = keys,
                   .start = start,
                   .column_factors = scratch.factors});
}

// Rows of the output of one head, from a block's first query on.
template <typename T>
struct OutputRows {
  T* out;  // null: the log-sum-exp alone
  std::int64_t out_row;
  float* log_sum_exp;
  std::int64_t log_sum_row;
};

template <typename T>
void finish_block(const HeadRule& rule, const OutputRows<T>& rows, std::int64_t queries,
                  ForwardScratch& scratch) {
  if (rows.out != nullptr) transpose(scratch.out_transposed, rule.width, kBlock, 1.0F, scratch.k);
  for (std::int64_t i = 0; i < queries; ++i) {
    if (rows.out != nullptr) {
      const float* row = scratch.k + i * rule.width;
      T* out = rows.out + i * rows.out_row;
      const float share = 1.0F / scratch.sums[i];
      for_vectors(0, rule.head_dim, [=](std::int64_t column, auto lanes) HWY_ATTR {
        lanes.store(hn::Mul(lanes.load(row + column), splat(share)), out + column);
      });
    }
    const double log_two =
        static_cast<double>(scratch.largest[i]) + std::log2(static_cast<double>(scratch.sums[i]));
    rows.log_sum_exp[i * rows.log_sum_row] = static_cast<float>(log_two * std::numbers::ln2);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fourhold::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

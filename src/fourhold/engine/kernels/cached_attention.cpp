#include "fourhold/engine/kernels/cached_attention.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "fourhold/engine/kernels/dispatch.h"
#include "fourhold/engine/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fourhold/engine/kernels/cached_attention.cpp"
#include <hwy/foreach_target.h>

#include "fourhold/engine/kernels/math_inl.h"
#include "fourhold/engine/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace fourhold::engine {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kBlock = plan::kAttentionBlock;

// One query of one head, its keys taken in blocks from the first it sees. Scores are logarithms to
// base two.
template <typename T>
class Query {
 public:
  Query(float* own, std::int64_t dim)
      : dim_(dim), q_(own), out_(q_ + plan::padded_head_dim(dim)), scores_(out_ + (out_ - q_)) {}

  void start(const T* q, float scale) {
    const float factor = scale * std::numbers::log2e_v<float>;
    float* to = q_;
    for_vectors(0, dim_, [=](std::int64_t i, auto lanes) HWY_ATTR {
      lanes.store(hn::Mul(lanes.load(q + i), splat(factor)), to + i);
    });
    std::memset(out_, 0, static_cast<std::size_t>(dim_) * sizeof(float));
    largest_ = -1e30F;  // below any score, and finite
    sum_ = 0;
  }

  // `count` rows of keys and values, at most kBlock, each `row` elements behind the one before.
  void add(const T* k, const T* v, std::int64_t row, std::int64_t count) {
    for (std::int64_t key = 0; key < count; ++key) {
      const T* own = k + key * row;
      const float* q = q_;
      scores_[key] = sum_over(dim_, [=](std::int64_t i, auto lanes) HWY_ATTR {
        return hn::Mul(lanes.load(q + i), lanes.load(own + i));
      });
    }
    const float before = largest_;
    for (std::int64_t key = 0; key < count; ++key) largest_ = std::max(largest_, scores_[key]);
    const float factor = std::exp2(before - largest_);
    sum_ = sum_ * factor + make_probabilities(count);
    float* out = out_;
    const float* probabilities = scores_;
    for_vectors(0, dim_, [=](std::int64_t i, auto lanes) HWY_ATTR {
      Vector total = hn::Mul(lanes.load(out + i), splat(factor));
      for (std::int64_t key = 0; key < count; ++key) {
        total = hn::MulAdd(splat(probabilities[key]), lanes.load(v + key * row + i), total);
      }
      lanes.store(total, out + i);
    });
  }

  void finish(T* to, float* log_sum_exp) const {
    const float share = 1.0F / sum_;
    const float* out = out_;
    for_vectors(0, dim_, [=](std::int64_t i, auto lanes) HWY_ATTR {
      lanes.store(hn::Mul(lanes.load(out + i), splat(share)), to + i);
    });
    const double log_two = static_cast<double>(largest_) + std::log2(static_cast<double>(sum_));
    *log_sum_exp = static_cast<float>(log_two * std::numbers::ln2);
  }

 private:
  // Scores become probabilities relative to the largest so far; their sum.
  float make_probabilities(std::int64_t count) {
    float* scores = scores_;
    const float largest = largest_;
    const float nothing = -std::numeric_limits<float>::infinity();
    return sum_over(count, [=](std::int64_t key, auto lanes) HWY_ATTR {
      const Vector power =
          exponential_of_two(hn::Sub(lanes.load(scores + key, nothing), splat(largest)));
      lanes.store(power, scores + key);
      return power;
    });
  }

  std::int64_t dim_;
  float* q_;
  float* out_;
  float* scores_;  // [kBlock]
  float largest_ = 0;
  float sum_ = 0;
};

void attend_all(const CachedAttention& call, float* scratch, int threads) {
  const AttentionShape& shape = call.shape;
  const std::int64_t own_floats = plan::cached_attention_floats(shape.head_dim);
  const std::int64_t capacity = call.k_cache.dims[0] / shape.sequences;
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t kv_row = shape.kv_heads * shape.head_dim;
  with_type(call.q.dtype, [&](auto type) {
    using T = decltype(type);
    const T* q = call.q.as<const T>().data();
    const T* k = call.k_cache.as<const T>().data();
    const T* v = call.v_cache.as<const T>().data();
    T* out = call.out.as<T>().data();
    float* log_sum_exp = call.log_sum_exp.as<float>().data();
    parallel_for(shape.sequences * shape.seq * shape.heads, threads, [&](const Share& share) {
      Query<T> query(scratch + share.worker * own_floats, shape.head_dim);
      for (std::int64_t item = share.begin; item < share.end; ++item) {
        const std::int64_t token = item / shape.heads;
        const std::int64_t sequence = token / shape.seq;
        const std::int64_t position = call.cached + token % shape.seq;
        const std::int64_t first =
            shape.window > 0 ? std::max<std::int64_t>(0, position - shape.window + 1) : 0;
        const std::int64_t kv = item % shape.heads / group * shape.head_dim;
        query.start(q + item * shape.head_dim, shape.scale);
        for (std::int64_t key = first; key <= position; key += kBlock) {
          const std::int64_t at = (sequence * capacity + key) * kv_row + kv;
          query.add(k + at, v + at, kv_row, std::min(kBlock, position + 1 - key));
        }
        query.finish(out + item * shape.head_dim, log_sum_exp + item);
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
HWY_EXPORT(attend_all);

void append(const Tensor& rows, const Tensor& cache, const CachedAttention& call) {
  const std::int64_t sequences = call.shape.sequences;
  const std::int64_t added = rows.bytes() / sequences;
  const std::int64_t whole = cache.bytes() / sequences;
  const std::int64_t before = call.cached * (added / call.shape.seq);
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
    std::memcpy(cache.data + sequence * whole + before, rows.data + sequence * added,
                static_cast<std::size_t>(added));
  }
}

}  // namespace

void cached_attention(const CachedAttention& call, std::span<std::byte> scratch,
                      const Execution& execution) {
  assert(static_cast<std::int64_t>(scratch.size()) >=
             plan::cached_attention_scratch_bytes(call.shape.head_dim, execution.threads) &&
         "scratch is what the rule says");
  assert((call.cached + call.shape.seq) * call.shape.sequences <= call.k_cache.dims[0] &&
         "the cache has room");
  append(call.k, call.k_cache, call);
  append(call.v, call.v_cache, call);
  HWY_DISPATCH_TABLE(attend_all)
  [version_of(execution.isa)](call, reinterpret_cast<float*>(scratch.data()), execution.threads);
}

}  // namespace fourhold::engine
#endif  // HWY_ONCE

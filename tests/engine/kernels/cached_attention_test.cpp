#include "fourhold/engine/kernels/cached_attention.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <limits>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Sizes {
  std::int64_t sequences = 1;
  std::int64_t cached = 0;
  std::int64_t added = 1;
  std::int64_t spare = 0;  // room in the cache behind them
  std::int64_t heads = 2;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 8;
  std::int64_t window = 0;

  [[nodiscard]] std::int64_t capacity() const { return cached + added + spare; }
};

// Rows [cached, cached + added) of whole sequences, whose first rows are in the cache and whose
// spare ones are no numbers: who reads them is found out.
struct CachedRun {
  AttentionShape shape;
  Values q, k, v;  // of whole sequences, [sequences x (cached + added), ...]
  Values new_q, new_k, new_v, k_cache, v_cache, out, log_sum_exp;

  CachedRun(const Sizes& sizes, DType dtype, unsigned seed, const Execution& execution)
      : shape{sizes.sequences,
              sizes.added,
              sizes.heads,
              sizes.kv_heads,
              sizes.head_dim,
              sizes.window,
              static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.head_dim)))},
        q(random_values(dtype, rows(sizes, sizes.cached + sizes.added, sizes.heads), seed)),
        k(random_values(dtype, rows(sizes, sizes.cached + sizes.added, sizes.kv_heads), seed + 1)),
        v(random_values(dtype, rows(sizes, sizes.cached + sizes.added, sizes.kv_heads), seed + 2)),
        new_q(part(q, sizes, sizes.heads)),
        new_k(part(k, sizes, sizes.kv_heads)),
        new_v(part(v, sizes, sizes.kv_heads)),
        k_cache(cache(k, sizes)),
        v_cache(cache(v, sizes)),
        out(dtype, rows(sizes, sizes.added, sizes.heads)),
        log_sum_exp(DType::fp32, Dims{sizes.sequences * sizes.added, sizes.heads}) {
    Values scratch(
        DType::fp32,
        Dims{plan::cached_attention_scratch_bytes(sizes.head_dim, execution.threads) / 4});
    const Tensor bytes = scratch.tensor();
    cached_attention({shape, sizes.cached, new_q.tensor(), new_k.tensor(), new_v.tensor(),
                      k_cache.tensor(), v_cache.tensor(), out.tensor(), log_sum_exp.tensor()},
                     {bytes.data, at(bytes.bytes())}, execution);
  }

  static Dims rows(const Sizes& sizes, std::int64_t count, std::int64_t heads) {
    return {sizes.sequences * count, heads, sizes.head_dim};
  }
  static Values part(const Values& whole, const Sizes& sizes, std::int64_t heads) {
    Values own(whole.dtype(), rows(sizes, sizes.added, heads));
    const std::int64_t width = heads * sizes.head_dim;
    for (std::int64_t s = 0; s < sizes.sequences; ++s) {
      for (std::int64_t i = 0; i < sizes.added * width; ++i) {
        own.set(s * sizes.added * width + i,
                whole[(s * (sizes.cached + sizes.added) + sizes.cached) * width + i]);
      }
    }
    return own;
  }
  static Values cache(const Values& whole, const Sizes& sizes) {
    Values own(whole.dtype(), rows(sizes, sizes.capacity(), sizes.kv_heads));
    const std::int64_t width = sizes.kv_heads * sizes.head_dim;
    for (std::int64_t i = 0; i < own.size(); ++i) {
      own.set(i, std::numeric_limits<double>::quiet_NaN());
    }
    for (std::int64_t s = 0; s < sizes.sequences; ++s) {
      for (std::int64_t i = 0; i < sizes.cached * width; ++i) {
        own.set(s * sizes.capacity() * width + i,
                whole[s * (sizes.cached + sizes.added) * width + i]);
      }
    }
    return own;
  }
};

// Attention by its definition, in doubles, of the new rows.
struct Definition {
  std::vector<double> out, log_sum_exp;

  Definition(const CachedRun& run, const Sizes& sizes) {
    const std::int64_t whole = sizes.cached + sizes.added;
    const std::int64_t dim = sizes.head_dim;
    for (std::int64_t row = 0; row < sizes.sequences * sizes.added; ++row) {
      const std::int64_t front = row / sizes.added * whole;
      const std::int64_t own = front + sizes.cached + row % sizes.added;
      const std::int64_t first = sizes.window > 0 ? std::max(front, own - sizes.window + 1) : front;
      for (std::int64_t h = 0; h < sizes.heads; ++h) {
        const std::int64_t kv = h / (sizes.heads / sizes.kv_heads);
        const auto kv_at = [&](std::int64_t key) { return (key * sizes.kv_heads + kv) * dim; };
        std::vector<double> weights;
        double sum = 0;
        for (std::int64_t key = first; key <= own; ++key) {
          double product = 0;
          for (std::int64_t i = 0; i < dim; ++i) {
            product += run.q[(own * sizes.heads + h) * dim + i] * run.k[kv_at(key) + i];
          }
          weights.push_back(std::exp(product * static_cast<double>(run.shape.scale)));
          sum += weights.back();
        }
        log_sum_exp.push_back(std::log(sum));
        for (std::int64_t i = 0; i < dim; ++i) {
          double value = 0;
          for (std::int64_t key = first; key <= own; ++key) {
            value += weights[at(key - first)] / sum * run.v[kv_at(key) + i];
          }
          out.push_back(value);
        }
      }
    }
  }
};

// Errors as in attention_test.cpp.
void expect_matches(const Sizes& sizes, DType dtype, unsigned seed, const Execution& execution) {
  const CachedRun run(sizes, dtype, seed, execution);
  const Definition expected(run, sizes);
  expect_near(run.log_sum_exp, expected.log_sum_exp, 1e-6, 4e-6);
  expect_near(run.out, expected.out, rounding_of(dtype), 2e-5);
}

TEST(CachedAttention, EqualsItsDefinitionInDoublesAtOddSizesWindowsAndGroups) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      unsigned seed = 1;
      for (const std::int64_t cached : {0, 1, 17, 63, 64, 65, 130}) {
        for (const std::int64_t added : {1, 2, 7}) {
          for (const std::int64_t window : {0, 1, 5, 64, 100}) {
            SCOPED_TRACE(::testing::Message()
                         << "isa " << static_cast<int>(isa) << ' ' << to_string(dtype) << " cached "
                         << cached << " added " << added << " window " << window);
            expect_matches({2, cached, added, 3, 4, 2, 16, window}, dtype, seed++, {2, isa});
          }
        }
      }
      for (const std::int64_t head_dim : {1, 3, 17, 64, 65, 80, 128, 129}) {
        SCOPED_TRACE(head_dim);
        expect_matches({1, 70, 1, 0, 3, 1, head_dim, 0}, dtype, seed++, {1, isa});
      }
    }
  }
}

RC_GTEST_PROP(CachedAttention, EqualsItsDefinitionForAnyShape, ()) {
  Sizes sizes;
  sizes.sequences = *rc::gen::inRange<std::int64_t>(1, 4);
  sizes.cached = *rc::gen::inRange<std::int64_t>(0, 150);
  sizes.added = *rc::gen::inRange<std::int64_t>(1, 10);
  sizes.spare = *rc::gen::inRange<std::int64_t>(0, 5);
  sizes.kv_heads = *rc::gen::inRange<std::int64_t>(1, 4);
  sizes.heads = sizes.kv_heads * *rc::gen::inRange<std::int64_t>(1, 4);
  sizes.head_dim = *rc::gen::inRange<std::int64_t>(1, 40);
  sizes.window = *rc::gen::inRange<std::int64_t>(0, 160);
  const auto threads = *rc::gen::inRange(1, 4);
  const auto all = isas();
  const Isa isa = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  const DType dtype = *rc::gen::elementOf(std::vector{DType::fp32, DType::bf16});
  expect_matches(sizes, dtype, 7, {threads, isa});
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(CachedAttention, WritesTheNewRowsBehindThoseThatAreThere) {
  const Sizes sizes{2, 5, 3, 2, 2, 1, 4, 0};
  CachedRun run(sizes, DType::fp32, 3, {1, Isa::portable});
  for (std::int64_t s = 0; s < 2; ++s) {
    for (std::int64_t i = 0; i < 10 * 4; ++i) {
      const double found = run.k_cache[s * 10 * 4 + i];
      if (i < 8 * 4) {
        EXPECT_EQ(found, run.k[s * 8 * 4 + i]);
      } else {
        EXPECT_TRUE(std::isnan(found));  // room that is left
      }
    }
  }
}

TEST(CachedAttention, BitsDoNotDependOnTheNumberOfThreads) {
  const Sizes sizes{2, 90, 5, 0, 6, 3, 20, 0};
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      const CachedRun one(sizes, dtype, 5, {1, isa});
      for (const int threads : {2, 3, 5}) {
        const CachedRun many(sizes, dtype, 5, {threads, isa});
        EXPECT_EQ(one.out, many.out);
        EXPECT_EQ(one.log_sum_exp, many.log_sum_exp);
      }
    }
  }
}

}  // namespace
}  // namespace fourhold::engine

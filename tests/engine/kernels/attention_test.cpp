#include "fourhold/engine/kernels/attention.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "fourhold/base/error.h"
#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

// Attention by its definition, in doubles.
class Reference {
 public:
  Reference(const AttentionShape& shape, std::vector<double> q, std::vector<double> k,
            std::vector<double> v)
      : shape_(shape), q_(std::move(q)), k_(std::move(k)), v_(std::move(v)) {
    out.assign(q_.size(), 0);
    log_sum_exp.assign(static_cast<std::size_t>(shape.sequences * shape.seq * shape.heads), 0);
    visit_queries([&](std::int64_t row, std::int64_t first, std::int64_t h) {
      double sum = 0;
      for (std::int64_t key = first; key <= row; ++key) sum += std::exp(score(row, key, h));
      log_sum_exp[at(row * shape_.heads + h)] = std::log(sum);
      for (std::int64_t key = first; key <= row; ++key) {
        const double probability = std::exp(score(row, key, h)) / sum;
        for (std::int64_t i = 0; i < shape_.head_dim; ++i) {
          out[q_at(row, h) + at(i)] += probability * v_[kv_at(key, h) + at(i)];
        }
      }
    });
  }

  void differentiate(const std::vector<double>& dout) {
    dq.assign(q_.size(), 0);
    dk.assign(k_.size(), 0);
    dv.assign(v_.size(), 0);
    visit_queries([&](std::int64_t row, std::int64_t first, std::int64_t h) {
      const auto width = at(shape_.head_dim);
      double row_sum = 0;
      for (std::size_t i = 0; i < width; ++i) {
        row_sum += dout[q_at(row, h) + i] * out[q_at(row, h) + i];
      }
      for (std::int64_t key = first; key <= row; ++key) {
        const double probability =
            std::exp(score(row, key, h) - log_sum_exp[at(row * shape_.heads + h)]);
        double dprobability = 0;
        for (std::size_t i = 0; i < width; ++i) {
          dprobability += dout[q_at(row, h) + i] * v_[kv_at(key, h) + i];
        }
        const double dscore =
            probability * (dprobability - row_sum) * static_cast<double>(shape_.scale);
        for (std::size_t i = 0; i < width; ++i) {
          dv[kv_at(key, h) + i] += probability * dout[q_at(row, h) + i];
          dq[q_at(row, h) + i] += dscore * k_[kv_at(key, h) + i];
          dk[kv_at(key, h) + i] += dscore * q_[q_at(row, h) + i];
        }
      }
    });
  }

  std::vector<double> out, log_sum_exp, dq, dk, dv;

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::size_t q_at(std::int64_t row, std::int64_t h) const {
    return at((row * shape_.heads + h) * shape_.head_dim);
  }
  [[nodiscard]] std::size_t kv_at(std::int64_t row, std::int64_t h) const {
    const std::int64_t kv_head = h / (shape_.heads / shape_.kv_heads);
    return at((row * shape_.kv_heads + kv_head) * shape_.head_dim);
  }
  [[nodiscard]] double score(std::int64_t row, std::int64_t key, std::int64_t h) const {
    double product = 0;
    for (std::size_t i = 0; i < at(shape_.head_dim); ++i) {
      product += q_[q_at(row, h) + i] * k_[kv_at(key, h) + i];
    }
    return product * static_cast<double>(shape_.scale);
  }
  // visit(row, first row it sees, head)
  template <class Visit>
  void visit_queries(const Visit& visit) const {
    for (std::int64_t row = 0; row < shape_.sequences * shape_.seq; ++row) {
      std::int64_t first = row / shape_.seq * shape_.seq;
      if (shape_.window > 0) first = std::max(first, row - shape_.window + 1);
      for (std::int64_t h = 0; h < shape_.heads; ++h) visit(row, first, h);
    }
  }

  AttentionShape shape_;
  std::vector<double> q_, k_, v_;
};

struct AttentionRun {
  Values q, k, v, out, log_sum_exp, dout, row_sums, dq, dk, dv;

  AttentionRun(const AttentionShape& shape, DType dtype, unsigned seed, const Execution& execution)
      : q(random_values(dtype, q_dims(shape), seed)),
        k(random_values(dtype, kv_dims(shape), seed + 1)),
        v(random_values(dtype, kv_dims(shape), seed + 2)),
        out(dtype, q_dims(shape)),
        log_sum_exp(DType::fp32, Dims{shape.sequences * shape.seq, shape.heads}),
        dout(random_values(dtype, q_dims(shape), seed + 3)),
        row_sums(log_sum_exp),
        dq(q),
        dk(k),
        dv(v) {
    Values forward_scratch(
        DType::fp32,
        Dims{plan::attention_forward_scratch_bytes(shape.head_dim, execution.threads) / 4});
    attention({shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor()},
              bytes(forward_scratch), execution);
    Values scratch(DType::fp32, Dims{plan::attention_backward_scratch_bytes(
                                         shape.seq, shape.head_dim, execution.threads) /
                                     4});
    attention_backward(
        {shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor(),
         dout.tensor(), row_sums.tensor(), dq.tensor(), dk.tensor(), dv.tensor()},
        bytes(scratch), execution);
  }

  static Dims q_dims(const AttentionShape& shape) {
    return {shape.sequences * shape.seq, shape.heads, shape.head_dim};
  }
  static Dims kv_dims(const AttentionShape& shape) {
    return {shape.sequences * shape.seq, shape.kv_heads, shape.head_dim};
  }
  static std::span<std::byte> bytes(Values& scratch) {
    const Tensor tensor = scratch.tensor();
    return {tensor.data, static_cast<std::size_t>(tensor.bytes())};
  }
};

// Sums of n products of normal numbers err by about n^(1/2) roundings of fp32; probabilities by the
// error of their exponent, at most 2^-24 |score| with scores up to about 6 sqrt(head_dim) scale.
// Backward reads `out` and the log-sum as they were stored, so with bf16 a row sum errs by the
// rounding of out times |dout| sqrt(head_dim); that error is spread over all keys of dq.
void expect_matches(const AttentionShape& shape, DType dtype, unsigned seed,
                    const Execution& execution) {
  const AttentionRun run(shape, dtype, seed, execution);
  Reference reference(shape, run.q.doubles(), run.k.doubles(), run.v.doubles());
  expect_near(run.log_sum_exp, reference.log_sum_exp, 1e-6, 4e-6);
  expect_near(run.out, reference.out, rounding_of(dtype), 2e-5);
  reference.differentiate(run.dout.doubles());
  const double rounding = rounding_of(dtype);
  const double group = static_cast<double>(shape.heads) / static_cast<double>(shape.kv_heads);
  const double row_sum_error = rounding * std::sqrt(static_cast<double>(shape.head_dim)) * 4;
  const double spread = static_cast<double>(shape.scale) * 4 * row_sum_error;
  expect_near(run.dv, reference.dv, rounding, 3e-5 * group);
  expect_near(run.dq, reference.dq, rounding, spread + 5e-5);
  // A key gathers the errors of all queries that look at it mostly: the first keys.
  const double keys = std::sqrt(static_cast<double>(shape.seq)) * group;
  expect_near(run.dk, reference.dk, rounding, spread * keys + 1e-4 * group);
}

AttentionShape shape_of(std::int64_t sequences, std::int64_t seq, std::int64_t heads,
                        std::int64_t kv_heads, std::int64_t head_dim, std::int64_t window) {
  return {sequences,
          seq,
          heads,
          kv_heads,
          head_dim,
          window,
          static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim)))};
}

TEST(Attention, EqualsItsDefinitionInDoublesAtOddSizesWindowsAndGroups) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      unsigned seed = 1;
      for (const std::int64_t seq : {1, 3, 17, 64, 65, 129, 200}) {
        for (const std::int64_t window : {0, 1, 5, 64, 100}) {
          SCOPED_TRACE(::testing::Message()
                       << "isa " << static_cast<int>(isa) << ' ' << to_string(dtype) << " seq "
                       << seq << " window " << window);
          expect_matches(shape_of(2, seq, 4, 2, 16, window), dtype, seed++, {2, isa});
        }
      }
      for (const std::int64_t head_dim : {1, 3, 17, 64, 65, 80, 96, 128, 129}) {
        SCOPED_TRACE(head_dim);
        expect_matches(shape_of(1, 70, 3, 1, head_dim, 0), dtype, seed++, {1, isa});
      }
    }
  }
}

RC_GTEST_PROP(Attention, EqualsItsDefinitionForAnyShape, ()) {
  const auto kv_heads = *rc::gen::inRange<std::int64_t>(1, 4);
  const auto heads = kv_heads * *rc::gen::inRange<std::int64_t>(1, 4);
  const auto seq = *rc::gen::inRange<std::int64_t>(1, 150);
  const auto head_dim = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto window = *rc::gen::inRange<std::int64_t>(0, 160);
  const auto threads = *rc::gen::inRange(1, 4);
  const auto all = isas();
  const Isa isa = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  const DType dtype = *rc::gen::elementOf(std::vector{DType::fp32, DType::bf16});
  expect_matches(shape_of(1, seq, heads, kv_heads, head_dim, window), dtype, 7, {threads, isa});
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(Attention, GradientsAreCentralDifferencesOfTheDefinition) {
  const AttentionShape shape = shape_of(2, 5, 2, 1, 3, 4);
  for (const Isa isa : isas()) {
    const AttentionRun run(shape, DType::fp32, 11, {1, isa});
    const std::vector<double> q = run.q.doubles();
    const std::vector<double> k = run.k.doubles();
    const std::vector<double> v = run.v.doubles();
    const std::vector<double> dout = run.dout.doubles();
    const auto loss = [&](const std::vector<double>& a, const std::vector<double>& b,
                          const std::vector<double>& c) {
      return dot(Reference(shape, a, b, c).out, dout);
    };
    expect_near(run.dq, central_differences(q, [&](const auto& x) { return loss(x, k, v); }), 0,
                1e-5);
    expect_near(run.dk, central_differences(k, [&](const auto& x) { return loss(q, x, v); }), 0,
                1e-5);
    expect_near(run.dv, central_differences(v, [&](const auto& x) { return loss(q, k, x); }), 0,
                1e-5);
  }
}

TEST(Attention, BitsDoNotDependOnTheNumberOfThreads) {
  const AttentionShape shape = shape_of(2, 150, 6, 3, 20, 90);
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      const AttentionRun one(shape, dtype, 5, {1, isa});
      for (const int threads : {2, 3, 5}) {
        const AttentionRun many(shape, dtype, 5, {threads, isa});
        EXPECT_EQ(one.out, many.out);
        EXPECT_EQ(one.log_sum_exp, many.log_sum_exp);
        EXPECT_EQ(one.row_sums, many.row_sums);
        EXPECT_EQ(one.dq, many.dq);
        EXPECT_EQ(one.dk, many.dk);
        EXPECT_EQ(one.dv, many.dv);
      }
    }
  }
}

TEST(Attention, LargeScoresOverflowNothing) {
  const AttentionShape shape = shape_of(1, 130, 1, 1, 8, 0);
  for (const Isa isa : isas()) {
    Values q = random_values(DType::fp32, AttentionRun::q_dims(shape), 1, 300);
    Values k = random_values(DType::fp32, AttentionRun::kv_dims(shape), 2, 300);
    Values v = random_values(DType::fp32, AttentionRun::kv_dims(shape), 3);
    Values out(DType::fp32, AttentionRun::q_dims(shape));
    Values log_sum_exp(DType::fp32, Dims{130, 1});
    Values scratch(DType::fp32, Dims{plan::attention_forward_scratch_bytes(8, 1) / 4});
    attention({shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor()},
              AttentionRun::bytes(scratch), {1, isa});
    for (std::int64_t i = 0; i < out.size(); ++i) {
      ASSERT_TRUE(std::isfinite(out[i]));
      ASSERT_LE(std::abs(out[i]), 5);  // a mean of values
    }
  }
}

TEST(Attention, WhatIsNotANumberStaysSo) {
  const AttentionShape shape = shape_of(1, 70, 1, 1, 8, 0);
  for (const Isa isa : isas()) {
    Values q = random_values(DType::fp32, AttentionRun::q_dims(shape), 1);
    Values k = random_values(DType::fp32, AttentionRun::kv_dims(shape), 2);
    Values v = random_values(DType::fp32, AttentionRun::kv_dims(shape), 3);
    k.set(8 * 8 + 3, std::numeric_limits<double>::quiet_NaN());  // of key 8
    Values out(DType::fp32, AttentionRun::q_dims(shape));
    Values log_sum_exp(DType::fp32, Dims{70, 1});
    Values scratch(DType::fp32, Dims{plan::attention_forward_scratch_bytes(8, 1) / 4});
    attention({shape, q.tensor(), k.tensor(), v.tensor(), out.tensor(), log_sum_exp.tensor()},
              AttentionRun::bytes(scratch), {1, isa});
    EXPECT_TRUE(std::isfinite(out[7 * 8]));
    for (const std::int64_t row : {8, 9, 63, 64, 69}) EXPECT_TRUE(std::isnan(out[row * 8]));
  }
}

model::ModelConfig small_config() {
  model::ModelConfig config;
  config.name = "small";
  return config;
}

model::Attention small_attention() {
  model::Attention attention;
  attention.heads = attention.kv_heads = 2;
  attention.head_dim = attention.value_head_dim = 8;
  return attention;
}

TEST(Attention, ModelsItCannotComputeAreRefusedByName) {
  EXPECT_NO_THROW(require_attention_kernel(small_config(), small_attention(), 0));
  const auto refused = [](const model::ModelConfig& config, const model::Attention& attention,
                          double dropout) -> std::string {
    try {
      require_attention_kernel(config, attention, dropout);
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "small");
      EXPECT_FALSE(error.hint().empty());
      return error.what();
    }
    return "nothing";
  };
  model::Attention attention = small_attention();
  attention.score_softcap = 50;
  EXPECT_EQ(refused(small_config(), attention, 0),
            "the engine's attention has no cap of the scores");
  attention = small_attention();
  attention.sinks = true;
  EXPECT_EQ(refused(small_config(), attention, 0), "the engine's attention has no sinks");
  attention = small_attention();
  attention.kind = model::AttentionKind::latent;
  EXPECT_EQ(refused(small_config(), attention, 0),
            "the engine's attention has no latent heads (MLA)");
  attention = small_attention();
  attention.value_head_dim = 4;
  EXPECT_EQ(refused(small_config(), attention, 0),
            "the engine's attention needs values as wide as queries");
  model::ModelConfig config = small_config();
  config.position = model::PositionKind::alibi;
  EXPECT_EQ(refused(config, small_attention(), 0),
            "the engine's attention has no linear biases (ALiBi)");
  EXPECT_EQ(refused(small_config(), small_attention(), 0.1),
            "the engine's attention has no dropout of probabilities");
}

}  // namespace
}  // namespace fourhold::engine

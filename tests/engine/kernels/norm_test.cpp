#include "fourhold/engine/kernels/norm.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

using model::NormKind;

constexpr float kEpsilon = 1e-5F;

// The norm of rows by its definition, in doubles; weight and bias may be empty.
std::vector<double> normed(NormKind kind, const std::vector<double>& x,
                           const std::vector<double>& weight, const std::vector<double>& bias,
                           std::size_t width) {
  std::vector<double> y;
  for (std::size_t row = 0; row < x.size() / width; ++row) {
    const double* values = x.data() + row * width;
    double mean = 0;
    for (std::size_t i = 0; kind == NormKind::layer_norm && i < width; ++i) {
      mean += values[i] / static_cast<double>(width);
    }
    double variance = 0;
    for (std::size_t i = 0; i < width; ++i) {
      variance += (values[i] - mean) * (values[i] - mean) / static_cast<double>(width);
    }
    for (std::size_t i = 0; i < width; ++i) {
      double value = (values[i] - mean) / std::sqrt(variance + static_cast<double>(kEpsilon));
      if (!weight.empty()) value *= weight[i];
      if (!bias.empty()) value += bias[i];
      y.push_back(value);
    }
  }
  return y;
}

struct NormRun {
  Values x, weight, bias, y, statistics, dy, dx, dweight, dbias;

  NormRun(NormKind kind, std::int64_t rows, std::int64_t width, DType dtype, DType parameters,
          const Execution& execution)
      : x(random_values(dtype, {rows, width}, 1, 2)),
        weight(random_values(parameters, {width}, 2)),
        bias(random_values(parameters, {width}, 3)),
        y(dtype, {rows, width}),
        statistics(DType::fp32, {rows, kind == NormKind::layer_norm ? 2 : 1}),
        dy(random_values(dtype, {rows, width}, 4)),
        dx(dtype, {rows, width}),
        dweight(random_values(DType::fp32, {width}, 5)),
        dbias(random_values(DType::fp32, {width}, 6)) {
    norm({kind, kEpsilon, x.tensor(), weight.tensor(), bias.tensor(), y.tensor(),
          statistics.tensor()},
         execution);
    norm_backward(backward(kind), execution);
  }

  NormBackward backward(NormKind kind) {
    NormBackward call;
    call.kind = kind;
    call.x = x.tensor();
    call.statistics = statistics.tensor();
    call.weight = weight.tensor();
    call.dy = dy.tensor();
    call.dx = dx.tensor();
    call.dweight = dweight.tensor();
    call.dbias = dbias.tensor();
    return call;
  }
};

// What the gradients held before, plus the central differences of dy . y.
void expect_gradients(const NormRun& run, NormKind kind, DType dtype) {
  const auto width = static_cast<std::size_t>(run.weight.size());
  const std::vector<double> x = run.x.doubles();
  const std::vector<double> w = run.weight.doubles();
  const std::vector<double> b = run.bias.doubles();
  const std::vector<double> dy = run.dy.doubles();
  const auto plus = [](std::vector<double> a, const std::vector<double>& c) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += c[i];
    return a;
  };
  // fp32 sums of `width` normal numbers, times the reciprocal, which is large where two or three
  // numbers are nearly equal.
  const double reciprocal = width < 4 ? 30 : 2;
  expect_near(
      run.dx,
      central_differences(x, [&](const auto& a) { return dot(normed(kind, a, w, b, width), dy); }),
      rounding_of(dtype), 1e-5 * reciprocal);
  expect_near(run.dweight,
              plus(random_values(DType::fp32, {run.weight.size()}, 5).doubles(),
                   central_differences(
                       w, [&](const auto& a) { return dot(normed(kind, x, a, b, width), dy); })),
              1e-6, 1e-5 * reciprocal);
  expect_near(run.dbias,
              plus(random_values(DType::fp32, {run.bias.size()}, 6).doubles(),
                   central_differences(
                       b, [&](const auto& a) { return dot(normed(kind, x, w, a, width), dy); })),
              1e-6, 2e-5);
}

TEST(Norm, ForwardEqualsItsDefinitionAndBackwardItsDifferences) {
  for (const Isa isa : isas()) {
    for (const NormKind kind : {NormKind::layer_norm, NormKind::rms_norm}) {
      for (const DType dtype : kComputeTypes) {
        for (const DType parameters : kComputeTypes) {
          for (const std::int64_t width : {2, 3, 17, 64, 65, 129}) {
            SCOPED_TRACE(::testing::Message()
                         << "isa " << static_cast<int>(isa) << ' ' << to_string(dtype) << " width "
                         << width << " rms " << (kind == NormKind::rms_norm));
            const NormRun run(kind, 5, width, dtype, parameters, {2, isa});
            expect_near(run.y,
                        normed(kind, run.x.doubles(), run.weight.doubles(), run.bias.doubles(),
                               static_cast<std::size_t>(width)),
                        rounding_of(dtype), 5e-6);
            expect_gradients(run, kind, dtype);
          }
        }
      }
    }
  }
}

RC_GTEST_PROP(Norm, AnyShapeEqualsItsDefinition, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 200);
  const auto width = *rc::gen::inRange<std::int64_t>(2, 200);
  const auto all = isas();
  const Isa isa = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  const auto kind = *rc::gen::elementOf(std::vector{NormKind::layer_norm, NormKind::rms_norm});
  const NormRun run(kind, rows, width, DType::fp32, DType::fp32, {*rc::gen::inRange(1, 4), isa});
  // Two equal elements have a reciprocal of 316, which multiplies the rounding of the mean.
  const double tolerance = width < 4 ? 1e-3 : 2e-5;
  expect_near(run.y,
              normed(kind, run.x.doubles(), run.weight.doubles(), run.bias.doubles(),
                     static_cast<std::size_t>(width)),
              1e-6, tolerance);
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(Norm, AConstantRowOfALayerNormBecomesTheBias) {
  for (const Isa isa : isas()) {
    Values x(DType::fp32, {1, 37});
    for (std::int64_t i = 0; i < 37; ++i) x.set(i, 4);
    Values bias = random_values(DType::fp32, {37}, 1);
    Values y(DType::fp32, {1, 37});
    Values statistics(DType::fp32, {1, 2});
    norm({NormKind::layer_norm, kEpsilon, x.tensor(), absent(), bias.tensor(), y.tensor(),
          statistics.tensor()},
         {1, isa});
    EXPECT_EQ(statistics[0], 4);
    EXPECT_NEAR(statistics[1], 1 / std::sqrt(1e-5), 1e-3);
    expect_near(y, bias.doubles(), 0, 0);
  }
}

TEST(Norm, BackwardAddsToTheStreamsGradientAndWorksInPlace) {
  for (const Isa isa : isas()) {
    NormRun run(NormKind::rms_norm, 7, 65, DType::fp32, DType::fp32, {1, isa});
    std::vector<double> sum = run.dx.doubles();
    NormBackward call = run.backward(NormKind::rms_norm);
    call.dweight = call.dbias = absent();
    Values stream = random_values(DType::fp32, {7, 65}, 9);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += stream[static_cast<std::int64_t>(i)];
    call.dx = stream.tensor();
    call.dx_destination = Destination::accumulate;
    norm_backward(call, {1, isa});
    expect_near(stream, sum, 3e-7, 1e-6);
    call.dx = call.dy;
    call.dx_destination = Destination::overwrite;
    norm_backward(call, {1, isa});
    EXPECT_EQ(run.dy, run.dx);
  }
}

TEST(Norm, BitsDoNotDependOnTheNumberOfThreads) {
  for (const Isa isa : isas()) {
    const NormRun one(NormKind::layer_norm, 301, 200, DType::bf16, DType::bf16, {1, isa});
    for (const int threads : {2, 3, 5}) {
      const NormRun many(NormKind::layer_norm, 301, 200, DType::bf16, DType::bf16, {threads, isa});
      EXPECT_EQ(one.y, many.y);
      EXPECT_EQ(one.statistics, many.statistics);
      EXPECT_EQ(one.dx, many.dx);
      EXPECT_EQ(one.dweight, many.dweight);
      EXPECT_EQ(one.dbias, many.dbias);
    }
  }
}

// A hundred thousand rows: in fp32 alone the sum of ones and small numbers would lose the latter.
TEST(Norm, GradientsOfManyRowsAreSummedWithoutDrift) {
  constexpr std::int64_t kRows = 100'000;
  for (const Isa isa : isas()) {
    Values dy(DType::fp32, {kRows, 4});
    for (std::int64_t i = 0; i < dy.size(); ++i) dy.set(i, 0.1);
    Values x = dy;
    Values statistics(DType::fp32, {kRows, 1});
    for (std::int64_t i = 0; i < kRows; ++i) statistics.set(i, 1);
    Values dx(DType::fp32, {kRows, 4});
    Values dbias(DType::fp32, {4});
    for (std::int64_t i = 0; i < 4; ++i) dbias.set(i, 0);
    NormBackward call;
    call.x = x.tensor();
    call.statistics = statistics.tensor();
    call.dy = dy.tensor();
    call.dx = dx.tensor();
    call.dbias = dbias.tensor();
    norm_backward(call, {2, isa});
    // Blocks of 64 in fp32 err by at most 64 roundings, always the same way for equal addends.
    EXPECT_NEAR(dbias[0], kRows * static_cast<double>(0.1F), kRows * 0.1 * 64 / 16777216);
  }
}

}  // namespace
}  // namespace fourhold::engine

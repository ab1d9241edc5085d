#include "fourhold/engine/optimizer/update.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fourhold/engine/tensor/counter_random.h"
#include "tests/engine/optimizer/owned_shard.h"

namespace fourhold::engine {
namespace {

using plan::Optimizer;
using plan::Precision;

constexpr std::array kPrecisions{Precision::fp32,       Precision::bf16,    Precision::bf16_split,
                                 Precision::bf16_kahan, Precision::bf16_sr, Precision::bf16_pure};
constexpr std::array kOptimizers{Optimizer::adamw, Optimizer::lion, Optimizer::sgd_momentum};

std::vector<float> normals(std::string_view stream, std::size_t count, float scale = 1) {
  const CounterRandom random(17, stream);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = scale * random.normal(i);
  return values;
}

Hyperparameters of(Optimizer optimizer, double decay = 0) {
  Hyperparameters result;
  result.optimizer = optimizer;
  result.weight_decay = decay;
  return result;
}

StepFactors first_step(const Hyperparameters& hyperparameters, double rate) {
  return step_factors(hyperparameters, WeightDecay::decayed, 1, rate, 1);
}

// At the first step m / (1 - beta1) = g and v / (1 - beta2) = g^2, so adamw moves by lr g / (|g| +
// epsilon): lr against the gradient's sign, whatever its size, plus lr decay w.
TEST(Update, TheFirstStepOfAdamwMovesByTheLearningRate) {
  OwnedShard shard(Precision::fp32, {1, 1, -2, 0.5F});
  shard.set_gradient({100, -0.001F, 3, 0});
  const auto report = update(shard.view(), first_step(of(Optimizer::adamw, 0.5), 0.01),
                             {Precision::fp32}, Pass::write);
  EXPECT_NEAR(shard.weight(0), 1 - 0.01 - 0.005, 2e-7);
  EXPECT_NEAR(shard.weight(1), 1 + 0.01 * 0.001 / (0.001 + 1e-8) - 0.005, 2e-7);
  EXPECT_NEAR(shard.weight(2), -2 - 0.01 + 0.01, 2e-7);
  EXPECT_NEAR(shard.weight(3), 0.5 - 0.0025, 1e-7);
  EXPECT_NEAR(shard.moment1(0), 10, 1e-5);
  EXPECT_NEAR(shard.moment2(0), 500, 1e-3);
  EXPECT_EQ(report.elements, 4);
  EXPECT_EQ(report.nonzero, 3);  // -2 moves by -0.01 and by 0.01 of decay
  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.nonfinite, 0);
}

// Lion moves by lr whatever the gradient, and not at all without one; its momentum takes 1 - beta2.
TEST(Update, TheFirstStepOfLionMovesByTheSignOfTheGradient) {
  OwnedShard shard(Precision::fp32, {1, 1, 1});
  shard.set_gradient({1e-20F, -7, 0});
  update(shard.view(), first_step(of(Optimizer::lion), 0.25), {Precision::fp32}, Pass::write);
  EXPECT_EQ(shard.weight(0), 0.75F);
  EXPECT_EQ(shard.weight(1), 1.25F);
  EXPECT_EQ(shard.weight(2), 1);
  EXPECT_NEAR(shard.moment1(1), -7 * 0.05, 1e-6);
}

// Gradient 2, then 2: momentum 2, then 0.5 2 + 2 = 3; weight 1 - 0.25 2 = 0.5, then 0.5 - 0.75.
TEST(Update, TwoStepsOfMomentumByHand) {
  Hyperparameters sgd = of(Optimizer::sgd_momentum);
  sgd.beta1 = 0.5;
  OwnedShard shard(Precision::fp32, {1});
  shard.set_gradient({2});
  update(shard.view(), first_step(sgd, 0.25), {Precision::fp32}, Pass::write);
  EXPECT_EQ(shard.weight(0), 0.5F);
  update(shard.view(), step_factors(sgd, WeightDecay::decayed, 2, 0.25, 1), {Precision::fp32},
         Pass::write);
  EXPECT_EQ(shard.weight(0), -0.25F);
  EXPECT_EQ(shard.moment1(0), 3);
}

TEST(Update, TheGradientScaleActsBeforeTheMoments) {
  OwnedShard shard(Precision::fp32, {1});
  shard.set_gradient({8});
  update(shard.view(),
         step_factors(of(Optimizer::sgd_momentum), WeightDecay::decayed, 1, 0.5, 0.125),
         {Precision::fp32}, Pass::write);
  EXPECT_EQ(shard.moment1(0), 1);
  EXPECT_EQ(shard.weight(0), 0.5F);
}

// The loop of the formulas in double; fp32 rounds each step's few operations by 2^-24 at most.
TEST(Update, FiftyStepsAgreeWithALoopInDouble) {
  constexpr std::size_t kCount = 37;
  for (const Optimizer optimizer : kOptimizers) {
    const Hyperparameters h = of(optimizer, 0.1);
    const auto start = normals("start", kCount);
    OwnedShard shard(Precision::fp32, start);
    std::vector<double> w(start.begin(), start.end());
    std::vector<double> m(kCount, 0);
    std::vector<double> v(kCount, 0);
    constexpr double kRate = 1e-2;
    for (int t = 1; t <= 50; ++t) {
      const auto gradient = normals("g" + std::to_string(t), kCount);
      shard.set_gradient(gradient);
      update(shard.view(), step_factors(h, WeightDecay::decayed, t, kRate, 1), {Precision::fp32},
             Pass::write);
      for (std::size_t i = 0; i < kCount; ++i) {
        const double g = gradient[i];
        if (optimizer == Optimizer::adamw) {
          m[i] = h.beta1 * m[i] + (1 - h.beta1) * g;
          v[i] = h.beta2 * v[i] + (1 - h.beta2) * g * g;
          const double root = std::sqrt(v[i] / (1 - std::pow(h.beta2, t)));
          w[i] -= kRate * 0.1 * w[i] + kRate * m[i] / (1 - std::pow(h.beta1, t)) / (root + 1e-8);
        } else if (optimizer == Optimizer::lion) {
          const double c = h.beta1 * m[i] + (1 - h.beta1) * g;
          w[i] -= kRate * ((c > 0) - (c < 0)) + kRate * 0.1 * w[i];
          m[i] = h.beta2 * m[i] + (1 - h.beta2) * g;
        } else {
          m[i] = h.beta1 * m[i] + g + 0.1 * w[i];
          w[i] -= kRate * m[i];
        }
      }
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_NEAR(shard.weight(i), w[i], 2e-5) << static_cast<int>(optimizer) << " " << i;
    }
  }
}

// Every precision, optimizer and gradient type: cut anywhere, on any number of threads, the bits
// are those of one shard on one thread. 9000 elements are three blocks of the inner loop.
RC_GTEST_PROP(Update, SplitsAndThreadsDoNotChangeABit, ()) {
  const Precision precision = *rc::gen::elementOf(kPrecisions);
  const Optimizer optimizer = *rc::gen::elementOf(kOptimizers);
  const bool fp32_gradient = precision == Precision::fp32 || *rc::gen::arbitrary<bool>();
  const DType dtype = fp32_gradient ? DType::fp32 : DType::bf16;
  const auto count = *rc::gen::inRange<std::size_t>(1, 9000);
  const auto offset = *rc::gen::inRange<std::int64_t>(0, 1000);
  const auto cut = *rc::gen::inRange<std::size_t>(0, count + 1);
  const auto threads = *rc::gen::inRange(1, 4);
  const auto weights = normals("w", count, 0.02F);
  OwnedShard whole(precision, weights, dtype, offset);
  OwnedShard cut_up(precision, weights, dtype, offset);
  for (std::int64_t step = 1; step <= 2; ++step) {
    const auto gradient = normals("g" + std::to_string(step), count, 0.1F);
    whole.set_gradient(gradient);
    cut_up.set_gradient(gradient);
    const auto factors = step_factors(of(optimizer, 0.1), WeightDecay::decayed, step, 1e-4, 0.5);
    const auto expected = update(whole.view(), factors, {precision, 9, step, 1}, Pass::write);
    auto report = update(cut_up.slice(0, cut), factors, {precision, 9, step, threads}, Pass::write);
    report += update(cut_up.slice(cut, count), factors, {precision, 9, step, threads}, Pass::write);
    RC_ASSERT(report.elements == expected.elements);
    RC_ASSERT(report.nonzero == expected.nonzero);
    RC_ASSERT(report.lost == expected.lost);
    RC_ASSERT(report.largest_weight == expected.largest_weight);
    RC_ASSERT(report.largest_moment1 == expected.largest_moment1);
  }
  RC_ASSERT(whole.state() == cut_up.state());
}

RC_GTEST_PROP(Update, TheSplitMasterGivesTheBitsOfTheFullOne, ()) {
  const Optimizer optimizer = *rc::gen::elementOf(kOptimizers);
  const auto count = *rc::gen::inRange<std::size_t>(1, 300);
  const auto rate = *rc::gen::elementOf(std::vector<double>{1e-6, 1e-4, 1e-2, 1});
  const auto weights = normals("w" + std::to_string(count), count);
  OwnedShard full(Precision::bf16, weights, DType::bf16);
  OwnedShard split_up(Precision::bf16_split, weights, DType::bf16);
  for (std::int64_t step = 1; step <= 5; ++step) {
    const auto gradient = normals("g" + std::to_string(step), count);
    full.set_gradient(gradient);
    split_up.set_gradient(gradient);
    const auto factors = step_factors(of(optimizer, 0.1), WeightDecay::decayed, step, rate, 1);
    const auto a = update(full.view(), factors, {Precision::bf16}, Pass::write);
    const auto b = update(split_up.view(), factors, {Precision::bf16_split}, Pass::write);
    RC_ASSERT(a.lost == b.lost);
    for (std::size_t i = 0; i < count; ++i) {
      RC_ASSERT(full.authoritative(i) == split_up.authoritative(i));
      RC_ASSERT(full.weight(i) == split_up.weight(i));
      RC_ASSERT(full.moment1(i) == split_up.moment1(i));
      RC_ASSERT(full.moment2(i) == split_up.moment2(i));
    }
  }
}

// Bf16 above 1 goes in steps of 2^-7, below in steps of 2^-8. Lion with lr 2^-9 takes 1 to 1 + 2^-9
// or 1 - 2^-9; the first is a quarter of a step and lost, the second half a step, a tie that goes
// to the even neighbour, which is 1.
TEST(Update, PureBf16LosesUpdatesOfUpToHalfAStep) {
  OwnedShard shard(Precision::bf16_pure, {1, 1, 1, 1, 0.25F});
  shard.set_gradient({-1, 1, 1, 0, 1});
  auto report = update(shard.view(), first_step(of(Optimizer::lion), std::ldexp(1.0, -9)),
                       {Precision::bf16_pure}, Pass::write);
  EXPECT_EQ(report.nonzero, 4);
  EXPECT_EQ(report.lost, 3);
  EXPECT_EQ(shard.weight(0), 1);
  EXPECT_EQ(shard.weight(1), 1);
  EXPECT_EQ(shard.weight(4), 0.25F - std::ldexp(1.0F, -9));
  // A little more than the tie is not lost.
  report = update(shard.view(), first_step(of(Optimizer::lion), 1.01 * std::ldexp(1.0, -9)),
                  {Precision::bf16_pure}, Pass::check);
  EXPECT_EQ(report.lost, 1);
}

// 1000 updates of 2^-14 make 0.061: the master and its split get there, Kahan's pair within its 16
// bits, and pure bf16 never leaves 1.
TEST(Update, KahanAndMastersKeepWhatPureBf16Loses) {
  constexpr double kRate = 0x1p-14;
  for (const Precision precision : kPrecisions) {
    if (precision == Precision::bf16_sr) continue;
    OwnedShard shard(precision, {1});
    shard.set_gradient({-1});
    UpdateReport total;
    for (int step = 1; step <= 1000; ++step) {
      total +=
          update(shard.view(), first_step(of(Optimizer::lion), kRate), {precision}, Pass::write);
    }
    if (precision == Precision::bf16_pure) {
      EXPECT_EQ(shard.weight(0), 1);
      EXPECT_EQ(total.lost, 1000);
    } else {
      // Below one step 2^-7 the remainder has 8 bits: its rounding errs by 2^-17 at most each time
      // and does not drift; the fp32 forms are exact here.
      const double margin = precision == Precision::bf16_kahan ? 1e-3 : 0;
      EXPECT_NEAR(shard.authoritative(0), 1 + 1000 * kRate, margin) << static_cast<int>(precision);
      EXPECT_EQ(total.lost, 0);
    }
  }
}

// An update of 3/16 of a step must go up in 3 of 16 draws: over 40000 elements (each a draw of its
// own) 7500 give or take 4 sqrt(40000 3/16 13/16) = 312.
TEST(Update, StochasticRoundingIsRightOnAverageOverElements) {
  constexpr std::size_t kCount = 40000;
  for (const float start : {1.0F, -1.0F}) {
    OwnedShard shard(Precision::bf16_sr, std::vector<float>(kCount, start));
    shard.set_gradient(std::vector<float>(kCount, -start));
    const auto report = update(shard.view(), first_step(of(Optimizer::lion), 3 * 0x1p-11),
                               {Precision::bf16_sr, 1, 1, 2}, Pass::write);
    std::int64_t moved = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      if (shard.weight(i) == start) continue;
      ++moved;
      ASSERT_EQ(shard.weight(i), start * (1 + 0x1p-7F));
    }
    EXPECT_NEAR(static_cast<double>(moved), 7500, 312);
    EXPECT_EQ(report.lost, static_cast<std::int64_t>(kCount) - moved);
  }
}

// The same for one element over seeds and over steps: 2000 draws, 375 give or take 70.
TEST(Update, StochasticRoundingIsRightOnAverageOverSeedsAndSteps) {
  for (const bool over_seeds : {true, false}) {
    int moved = 0;
    for (int draw = 1; draw <= 2000; ++draw) {
      OwnedShard shard(Precision::bf16_sr, {1});
      shard.set_gradient({-1});
      const UpdateOptions options{Precision::bf16_sr,
                                  over_seeds ? static_cast<std::uint64_t>(draw) : 1,
                                  over_seeds ? 1 : draw};
      update(shard.view(), first_step(of(Optimizer::lion), 3 * 0x1p-11), options, Pass::write);
      moved += shard.weight(0) != 1;
    }
    EXPECT_NEAR(moved, 375, 70);
  }
}

TEST(Update, StochasticRoundingKeepsWhatBf16CanHold) {
  OwnedShard shard(Precision::bf16_sr, std::vector<float>(1000, 1.5F));
  shard.set_gradient(std::vector<float>(1000, 1));
  update(shard.view(), first_step(of(Optimizer::lion), 0.25), {Precision::bf16_sr}, Pass::write);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(shard.weight(i), 1.25F);
}

TEST(Update, ACheckReportsWhatAWriteWouldAndWritesNothing) {
  for (const Precision precision : kPrecisions) {
    for (const Optimizer optimizer : kOptimizers) {
      OwnedShard shard(precision, normals("w", 100));
      shard.set_gradient(normals("g", 100));
      const auto before = shard.state();
      const auto factors = first_step(of(optimizer, 0.1), 1e-3);
      const auto checked = update(shard.view(), factors, {precision}, Pass::check);
      EXPECT_EQ(shard.state(), before);
      const auto written = update(shard.view(), factors, {precision}, Pass::write);
      EXPECT_NE(shard.state(), before);
      EXPECT_EQ(checked.lost, written.lost);
      EXPECT_EQ(checked.nonzero, written.nonzero);
      EXPECT_EQ(checked.largest_weight, written.largest_weight);
    }
  }
}

// The largest bf16 is 2^128 - 2^120. A step of 2^119 rounds it to infinity in bf16, yet not in
// fp32.
TEST(Update, CountsAWeightThatOnlyItsBf16CopyMakesInfinite) {
  const float largest = to_float(Bf16{0x7f7f});
  for (const Precision precision : kPrecisions) {
    OwnedShard shard(precision, {1, largest, -largest});
    EXPECT_EQ(shard.nonfinite(), 0);
    shard.set_gradient({-1, -1, 1});
    const auto report =
        update(shard.view(), first_step(of(Optimizer::lion), 0x1p119), {precision, 3}, Pass::check);
    if (precision == Precision::bf16_sr) continue;  // infinite in half of the draws
    EXPECT_EQ(report.nonfinite, precision == Precision::fp32 ? 0 : 2)
        << static_cast<int>(precision);
  }
}

TEST(Update, CountsWhatIsNotFiniteInGradientsAndMoments) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Precision precision : kPrecisions) {
    OwnedShard shard(precision, std::vector<float>(70, 1));
    std::vector<float> gradient(70, 1);
    gradient[3] = infinity;
    gradient[17] = std::numeric_limits<float>::quiet_NaN();
    gradient[69] = 1e30F;  // its square leaves fp32
    shard.set_gradient(gradient);
    const auto report =
        update(shard.view(), first_step(of(Optimizer::adamw), 1e-3), {precision}, Pass::check);
    EXPECT_EQ(report.nonfinite, 3) << static_cast<int>(precision);
  }
}

TEST(Update, StartsFromFiniteWeightsOnly) {
  const float largest = std::numeric_limits<float>::max();  // rounds to an infinite bf16
  EXPECT_EQ(OwnedShard(Precision::fp32, {largest, 1}).nonfinite(), 0);
  EXPECT_EQ(OwnedShard(Precision::bf16, {largest, 1}).nonfinite(), 1);
  EXPECT_EQ(OwnedShard(Precision::bf16_pure, {largest, 1}).nonfinite(), 1);
  EXPECT_EQ(OwnedShard(Precision::fp32, {std::numeric_limits<float>::infinity(), 1}).nonfinite(),
            1);
}

}  // namespace
}  // namespace fourhold::engine

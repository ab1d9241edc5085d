#include "fourhold/engine/optimizer/stall.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "fourhold/base/error.h"
#include "fourhold/engine/tensor/bf16.h"

namespace fourhold::engine {
namespace {

using model::StoredType;

StallCount bf16_count(double weight, double rate, double decay = 0) {
  return stall_of_weight({DType::bf16, rate, decay}, weight);
}

template <typename T>
TensorStall ask(const StallAnalysis& analysis, const std::vector<T>& values, StoredType type) {
  return analysis.of(std::as_bytes(std::span(values)), type);
}

// Bf16 lies 2^-7 apart above 1 and 2^-8 below. Half of that is 0.0039 up and 0.00195 down.
TEST(Stall, AtOneInBf16) {
  EXPECT_EQ(bf16_count(1, 1e-3), (StallCount{2, 2}));
  EXPECT_EQ(bf16_count(1, 0x1p-9), (StallCount{2, 2}));  // a tie downwards goes to the even 1
  EXPECT_EQ(bf16_count(1, 2e-3), (StallCount{2, 1}));    // up is lost, down is not
  EXPECT_EQ(bf16_count(1, 0x1p-8), (StallCount{2, 1}));  // a tie upwards
  EXPECT_EQ(bf16_count(1, 4e-3), (StallCount{2, 0}));
  EXPECT_EQ(bf16_count(-1, 2e-3), (StallCount{2, 1}));
}

// 1 + 2^-7 is odd: ties leave it.
TEST(Stall, ATieLeavesAnOddWeight) {
  EXPECT_EQ(bf16_count(1 + 0x1p-7, 0x1p-8), (StallCount{2, 0}));
  EXPECT_EQ(bf16_count(1 + 0x1p-6, 0x1p-8), (StallCount{2, 2}));
}

// A typical weight of 0.02 lies between 2^-6 and 2^-5: half a step is 2^-14 = 6.1e-5.
TEST(Stall, ATypicalWeightNeedsAboutSixtyMillionths) {
  EXPECT_EQ(bf16_count(0.02001953125, 6e-5), (StallCount{2, 2}));
  EXPECT_EQ(bf16_count(0.02001953125, 6.2e-5), (StallCount{2, 0}));
}

TEST(Stall, ZeroIsLeftByAnyUpdateThatIsAValue) {
  EXPECT_EQ(bf16_count(0, 1e-30), (StallCount{2, 0}));
}

// Decay 1 takes lr w away: at w = 1 the two changes are 0 (no update) and -2 lr.
TEST(Stall, DecayShiftsBothUpdates) {
  EXPECT_EQ(bf16_count(1, 0.9e-3, 1), (StallCount{1, 1}));
  EXPECT_EQ(bf16_count(1, 1e-3, 1), (StallCount{1, 0}));
}

TEST(Stall, Fp32AndFp16HaveSmallerSteps) {
  EXPECT_EQ(stall_of_weight({DType::fp32, 1e-3}, 1), (StallCount{2, 0}));
  EXPECT_EQ(stall_of_weight({DType::fp32, 2e-8}, 1), (StallCount{2, 2}));  // 2^-25 = 3e-8
  EXPECT_EQ(stall_of_weight({DType::fp16, 0x1p-12}, 1), (StallCount{2, 2}));
  EXPECT_EQ(stall_of_weight({DType::fp16, 1e-3}, 1), (StallCount{2, 0}));
}

// The oracle is the addition itself: sums of a bf16 and an fp32 rate in double, rounded by to_bf16
// from fp32 when the sum fits one.
RC_GTEST_PROP(Stall, AgreesWithAddingAndRounding, ()) {
  const Bf16 bits{*rc::gen::inRange<std::uint16_t>(0x3000, 0x4800)};  // 2^-31 to 2^17
  const double weight = (*rc::gen::arbitrary<bool>() ? 1.0 : -1.0) * to_float(bits);
  // A rate of few bits, near half a step, so that the sum is exact in fp32 and ties are met.
  const double step = std::ldexp(1.0, std::ilogb(weight) - 7);
  const double rate = step * *rc::gen::inRange(1, 40) / 32;
  StallCount expected;
  for (const double change : {rate, -rate}) {
    const double sum = weight + change;
    RC_ASSERT(static_cast<double>(static_cast<float>(sum)) == sum);
    ++expected.updates;
    if (to_float(to_bf16(static_cast<float>(sum))) == weight) ++expected.lost;
  }
  RC_ASSERT(stall_of_weight({DType::bf16, rate}, weight) == expected);
}

// 1 and 1.001 (which rounds to 1) stall, 0.001 does not; infinity and NaN are set apart.
TEST(Stall, ReadsTensorsOfEveryFloatingType) {
  const StallAnalysis analysis({DType::bf16, 1e-3});
  const float infinity = std::numeric_limits<float>::infinity();
  const auto expect = [&](const TensorStall& stall, std::int64_t elements, std::int64_t lost,
                          std::int64_t nonfinite) {
    EXPECT_EQ(stall.elements, elements);
    EXPECT_EQ(stall.nonfinite, nonfinite);
    EXPECT_EQ(stall.count, (StallCount{2 * (elements - nonfinite), lost}));
  };
  expect(ask<float>(analysis, {1, 1.001F, 0.001F, infinity, -infinity}, StoredType::f32), 5, 4, 2);
  expect(ask<double>(analysis, {1, 1.001, -0.001, 1e300, std::nan("")}, StoredType::f64), 5, 4, 2);
  expect(ask<Bf16>(analysis, {to_bf16(-1), to_bf16(0.001F), Bf16{0x7f80}}, StoredType::bf16), 3, 2,
         1);
  // fp16: 1, 2^-10 (0x1400), infinity. fp8 E4M3: 1 (0x38), 2^-9 (0x01), NaN (0x7f), 448 (0x7e).
  // fp8 E5M2: 1 (0x3c), 2^-16 (0x01), infinity (0x7c).
  expect(ask<std::uint16_t>(analysis, {0x3c00, 0x1400, 0x7c00}, StoredType::f16), 3, 2, 1);
  expect(ask<std::uint8_t>(analysis, {0x38, 0x01, 0x7f, 0x7e}, StoredType::f8_e4m3), 4, 4, 1);
  expect(ask<std::uint8_t>(analysis, {0x3c, 0x01, 0x7c}, StoredType::f8_e5m2), 3, 2, 1);
  EXPECT_FALSE(holds_weights(StoredType::i64));
  EXPECT_FALSE(holds_weights(StoredType::f8_e8m0));
}

// Every finite bf16, through the table and one by one.
TEST(Stall, ATensorCountsWhatItsWeightsCount) {
  const StallQuestion question{DType::bf16, 3e-4, 0.1};
  const StallAnalysis analysis(question);
  std::vector<std::uint16_t> all;
  StallCount expected;
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    all.push_back(static_cast<std::uint16_t>(bits));
    const float value = to_float(Bf16{all.back()});
    if (std::isfinite(value)) expected += stall_of_weight(question, value);
  }
  const TensorStall stall = ask(analysis, all, StoredType::bf16);
  EXPECT_EQ(stall.count, expected);
  EXPECT_EQ(stall.nonfinite, 2 * 128);
}

// fp16 ends at 65504: 2^17 of bf16 (0x4800) is a weight there is no fp16 for, NaN (0x7fc0) is none.
TEST(Stall, NamesTheFirstElementThatIsNoWeight) {
  const StallAnalysis analysis({DType::fp16, 1e-3});
  const auto first = [&analysis](std::vector<std::uint16_t> bits) {
    return ask(analysis, bits, StoredType::bf16).first_not_a_weight;
  };
  EXPECT_EQ(first({0x3f80, 0x4800}), std::nullopt);
  EXPECT_EQ(first({0x3f80, 0x4800, 0x7fc0, 0x7f80}), 2);
}

std::string refusal(const StallQuestion& question) {
  try {
    const StallAnalysis analysis(question);
  } catch (const Error& error) {
    return error.where() + ": " + error.what() + " / " + error.hint();
  }
  return "accepted";
}

TEST(Stall, RefusesQuestionsWithoutAnAnswer) {
  EXPECT_EQ(refusal({DType::int8, 1e-3}),
            "--dtype: weights are not updated in int8 / choose bf16, fp16 or fp32");
  EXPECT_EQ(refusal({DType::bf16, 0}), "--lr: must be positive and finite, not 0 / 3e-4 is usual");
  EXPECT_EQ(refusal({DType::bf16, 1e-3, -1}),
            "--weight-decay: must be at least 0 and finite, not -1 / 0.1 is usual, 0 is none");
}

TEST(StallMeter, ALogLineTakesWhatCameSinceTheLastAndTheRunKeepsAll) {
  StallMeter meter;
  UpdateReport report;
  report.nonzero = 10;
  report.lost = 4;
  meter.add(report);
  EXPECT_EQ(meter.take().share(), 0.4);
  EXPECT_EQ(meter.take().share(), 0);
  report.lost = 6;
  meter.add(report);
  meter.add(report);
  EXPECT_EQ(meter.whole_run(), (StallCount{30, 16}));
  EXPECT_EQ(meter.take(), (StallCount{20, 12}));
  EXPECT_EQ(meter.whole_run(), (StallCount{30, 16}));
}

}  // namespace
}  // namespace fourhold::engine

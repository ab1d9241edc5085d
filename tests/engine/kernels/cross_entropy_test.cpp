#include "fourhold/engine/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

double log_sum(const std::vector<double>& logits, std::size_t width, std::size_t row,
               std::size_t vocabulary) {
  double sum = 0;
  for (std::size_t i = 0; i < vocabulary; ++i) sum += std::exp(logits[row * width + i]);
  return std::log(sum);
}

// The sum of losses by its definition; targets below 0 count for nothing.
double loss_of(const std::vector<double>& logits, const std::vector<std::int32_t>& targets,
               std::size_t vocabulary) {
  const std::size_t width = logits.size() / targets.size();
  double loss = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    loss += log_sum(logits, width, row, vocabulary) -
            logits[row * width + static_cast<std::size_t>(targets[row])];
  }
  return loss;
}

// Every third row has no target.
std::vector<std::int32_t> targets_for(std::int64_t rows, std::int64_t vocabulary) {
  std::vector<std::int32_t> targets;
  for (std::int64_t row = 0; row < rows; ++row) {
    targets.push_back(row % 3 == 2 ? -1 : static_cast<std::int32_t>(row * 7 % vocabulary));
  }
  return targets;
}

constexpr float kScale = 0.125F;

// Probabilities err by the rounding of the exponent, 2^-24 x 10, and of the sum.
TEST(CrossEntropy, LossAndGradientEqualTheirDefinitionAlsoInPlaceAndWithPadding) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      for (const std::int64_t vocabulary : {1, 3, 17, 65, 129, 300}) {
        const std::int64_t width = vocabulary + 5;
        SCOPED_TRACE(::testing::Message() << "isa " << static_cast<int>(isa) << ' '
                                          << to_string(dtype) << " vocabulary " << vocabulary);
        Values logits = random_values(dtype, {7, width}, 1, 3);
        const std::vector<double> before = logits.doubles();
        const std::vector<std::int32_t> ids = targets_for(7, vocabulary);
        Integers targets(ids);
        const Logits call{logits.tensor(), targets.tensor(), vocabulary, 0};
        const double expected = loss_of(before, ids, static_cast<std::size_t>(vocabulary));
        EXPECT_NEAR(cross_entropy_loss(call, {2, isa}), expected, 1e-5);
        EXPECT_EQ(logits.doubles(), before);
        EXPECT_NEAR(cross_entropy(call, kScale, logits.tensor(), {2, isa}), expected, 1e-5);
        const std::vector<double> slopes = central_differences(before, [&](const auto& x) {
          return static_cast<double>(kScale) *
                 loss_of(x, ids, static_cast<std::size_t>(vocabulary));
        });
        expect_near(logits, slopes, rounding_of(dtype) + 3e-6, 1e-8);
      }
    }
  }
}

TEST(CrossEntropy, WideLogitsGiveANarrowGradient) {
  for (const Isa isa : isas()) {
    Values logits = random_values(DType::fp32, {5, 37}, 1);
    Values narrow(DType::bf16, {5, 37});
    Values wide(DType::fp32, {5, 37});
    Integers targets(targets_for(5, 37));
    const Logits call{logits.tensor(), targets.tensor(), 37, 0};
    const double loss = cross_entropy(call, kScale, wide.tensor(), {1, isa});
    EXPECT_EQ(cross_entropy(call, kScale, narrow.tensor(), {1, isa}), loss);
    for (std::int64_t i = 0; i < wide.size(); ++i) {
      EXPECT_EQ(narrow[i], to_float(to_bf16(static_cast<float>(wide[i]))));
    }
  }
}

// Two ranks of one vocabulary: pieces put together as plan's collectives do are the whole.
TEST(CrossEntropy, ASplitVocabularyGivesTheWholesLossAndGradient) {
  constexpr std::int64_t kRows = 6;
  constexpr std::int64_t kWhole = 50;
  constexpr std::int64_t kFirst = 30;
  for (const Isa isa : isas()) {
    Values whole = random_values(DType::fp32, {kRows, kWhole}, 1, 4);
    const std::vector<std::int32_t> ids = targets_for(kRows, kWhole);
    Integers targets(ids);
    Values parts[2] = {Values(DType::fp32, {kRows, kFirst}),
                       Values(DType::fp32, {kRows, kWhole - kFirst})};
    Values statistics[2] = {Values(DType::fp32, {kRows, 3}), Values(DType::fp32, {kRows, 3})};
    for (std::int64_t i = 0; i < whole.size(); ++i) {
      const std::int64_t column = i % kWhole;
      const bool second = column >= kFirst;
      const std::int64_t width = second ? kWhole - kFirst : kFirst;
      parts[second ? 1 : 0].set(i / kWhole * width + column - (second ? kFirst : 0), whole[i]);
    }
    const auto call = [&](int rank) {
      return Logits{parts[rank].tensor(), targets.tensor(), rank == 0 ? kFirst : kWhole - kFirst,
                    rank == 0 ? 0 : kFirst};
    };
    for (const int rank : {0, 1}) {
      cross_entropy_statistics(call(rank), statistics[rank].tensor(), {2, isa});
    }
    Values log_sums(DType::fp32, {kRows});
    double loss = 0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      double sum = 0;
      double target = 0;
      for (const Values& own : statistics) {
        sum += own[3 * row + 1] * std::exp(own[3 * row]);
        target += own[3 * row + 2];
      }
      log_sums.set(row, std::log(sum));
      if (ids[static_cast<std::size_t>(row)] >= 0) loss += std::log(sum) - target;
    }
    Values gradient = whole;
    EXPECT_NEAR(cross_entropy({whole.tensor(), targets.tensor(), kWhole, 0}, kScale,
                              gradient.tensor(), {1, isa}),
                loss, 1e-5);
    for (const int rank : {0, 1}) {
      cross_entropy_gradient(call(rank), log_sums.tensor(), kScale, parts[rank].tensor(), {2, isa});
    }
    for (std::int64_t i = 0; i < whole.size(); ++i) {
      const std::int64_t column = i % kWhole;
      const bool second = column >= kFirst;
      const std::int64_t width = second ? kWhole - kFirst : kFirst;
      EXPECT_NEAR(parts[second ? 1 : 0][i / kWhole * width + column - (second ? kFirst : 0)],
                  gradient[i], 1e-6);
    }
  }
}

TEST(CrossEntropy, BitsDoNotDependOnTheNumberOfThreads) {
  for (const Isa isa : isas()) {
    Values logits = random_values(DType::bf16, {700, 33}, 1, 2);
    Integers targets(targets_for(700, 33));
    const Logits call{logits.tensor(), targets.tensor(), 33, 0};
    Values one(DType::bf16, {700, 33});
    const double loss = cross_entropy(call, kScale, one.tensor(), {1, isa});
    for (const int threads : {2, 3}) {
      Values many(DType::bf16, {700, 33});
      EXPECT_EQ(cross_entropy(call, kScale, many.tensor(), {threads, isa}), loss);
      EXPECT_EQ(one, many);
    }
  }
}

TEST(CrossEntropy, LogitsThatAreNotNumbersGiveALossThatIsNone) {
  for (const Isa isa : isas()) {
    Values logits = random_values(DType::fp32, {1, 40}, 1);
    logits.set(20, std::numeric_limits<double>::quiet_NaN());
    Integers targets({3});
    EXPECT_TRUE(
        std::isnan(cross_entropy_loss({logits.tensor(), targets.tensor(), 40, 0}, {1, isa})));
  }
}

}  // namespace
}  // namespace fourhold::engine

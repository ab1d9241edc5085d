#include "fourhold/engine/kernels/rotary.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/engine/kernels/support.h"

namespace fourhold::engine {
namespace {

Rotary rotary_of(std::int64_t head_dim, std::int64_t turned, std::int64_t first = 0) {
  Rotary rotary;
  rotary.head_dim = head_dim;
  rotary.turned = turned;
  rotary.first = first;
  return rotary;
}

// x turned by its definition; direction -1 turns back.
std::vector<double> turned(const Rotary& rotary, std::vector<double> x, const Positions& positions,
                           double direction) {
  const auto width = x.size() / static_cast<std::size_t>(positions.rows());
  const auto half = static_cast<std::size_t>(rotary.turned / 2);
  for (std::size_t row = 0; row < x.size() / width; ++row) {
    const std::int64_t token = static_cast<std::int64_t>(row) % positions.tokens;
    for (std::size_t head = 0; head < width; head += static_cast<std::size_t>(rotary.head_dim)) {
      for (std::size_t i = 0; i < half; ++i) {
        const double angle =
            direction * static_cast<double>(positions.of(token)) *
            std::pow(rotary.base, -static_cast<double>(i) / static_cast<double>(half));
        double& a = x[row * width + head + static_cast<std::size_t>(rotary.first) + i];
        double& b = x[row * width + head + static_cast<std::size_t>(rotary.first) + i + half];
        const double before = a;
        a = before * std::cos(angle) - b * std::sin(angle);
        b = before * std::sin(angle) + b * std::cos(angle);
      }
    }
  }
  return x;
}

TEST(Rotary, PairsTurnByTheirPositionAtAnyWidth) {
  for (const Isa isa : isas()) {
    for (const DType dtype : kComputeTypes) {
      for (const Rotary& rotary : {rotary_of(2, 2), rotary_of(6, 6), rotary_of(64, 64),
                                   rotary_of(80, 20), rotary_of(34, 10, 24), rotary_of(128, 128)}) {
        for (const std::int64_t tokens : {1, 3, 65, 129}) {
          const Positions positions{.sequences = 2, .tokens = tokens, .first = 1000};
          Values x = random_values(dtype, {2 * tokens, 3, rotary.head_dim}, 1);
          const std::vector<double> expected = turned(rotary, x.doubles(), positions, 1);
          rotate(rotary, x.tensor(), positions, {3, isa});
          // Sine and cosine and three operations in fp32 on numbers of at most 5.
          expect_near(x, expected, rounding_of(dtype), 1e-6);
        }
      }
    }
  }
}

TEST(Rotary, BackwardTurnsBackAndPiecesHaveTheirOwnPositions) {
  const Rotary rotary = rotary_of(16, 16);
  const Positions positions{.sequences = 2, .tokens = 8, .first = 4, .pieces = 2, .second = 100};
  for (const Isa isa : isas()) {
    Values x = random_values(DType::fp32, {16, 2, 16}, 1);
    const std::vector<double> before = x.doubles();
    const std::vector<double> expected = turned(rotary, before, positions, -1);
    rotate_back(rotary, x.tensor(), positions, {2, isa});
    expect_near(x, expected, 0, 1e-6);
    rotate(rotary, x.tensor(), positions, {2, isa});
    expect_near(x, before, 0, 2e-6);
  }
}

TEST(Rotary, RowsOfAShareTurnAsTheyDoInTheWhole) {
  const Rotary rotary = rotary_of(16, 16);
  Positions positions{.sequences = 3, .tokens = 8, .first = 4, .pieces = 2, .second = 100};
  constexpr std::int64_t kWidth = 32;
  for (const Isa isa : isas()) {
    Values whole = random_values(DType::fp32, {24, 2, 16}, 1);
    positions.shares = 1;
    const Values before = whole;
    rotate(rotary, whole.tensor(), positions, {2, isa});
    positions.shares = 4;  // of six rows
    for (positions.share = 0; positions.share < 4; ++positions.share) {
      Values part(DType::fp32, {6, 2, 16});
      const std::int64_t first = positions.share * 6 * kWidth;
      for (std::int64_t i = 0; i < part.size(); ++i) part.set(i, before[first + i]);
      rotate(rotary, part.tensor(), positions, {2, isa});
      for (std::int64_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], whole[first + i]);
    }
    positions.share = 0;
  }
}

TEST(Rotary, BitsDoNotDependOnTheNumberOfThreads) {
  for (const Isa isa : isas()) {
    const Positions positions{.sequences = 2, .tokens = 100};
    Values one = random_values(DType::bf16, {200, 2, 64}, 1);
    Values many = one;
    rotate(rotary_of(64, 64), one.tensor(), positions, {1, isa});
    rotate(rotary_of(64, 64), many.tensor(), positions, {3, isa});
    EXPECT_EQ(one, many);
  }
}

// Llama 3.1: base 500000, head 128, factor 8, low 1, high 4, 8192 positions. By hand: pair 0 turns
// 1 radian, 8192 / (2 pi) = 1304 turns, far above 4: kept. Pair 63 turns 500000^(-63/64)
// = 2.455e-6, 0.0032 turns, below 1: an eighth. Pair 32 turns 500000^(-1/2) = 1.4142e-3, 1.8438
// turns: r = 0.28127, so (0.71873 / 8 + 0.28127) x 1.4142e-3 = 5.2485e-4.
TEST(Rotary, Llama3ScalingKeepsFastPairsAndSlowsSlowOnes) {
  Rotary rotary = rotary_of(128, 128);
  rotary.base = 500'000;
  rotary.scaling = RotaryScaling::llama3;
  rotary.factor = 8;
  rotary.original_max_positions = 8192;
  EXPECT_EQ(rotary.angle_of(0), 1);
  EXPECT_NEAR(rotary.angle_of(63), 2.455e-6 / 8, 1e-9);
  EXPECT_NEAR(rotary.angle_of(32), 5.2485e-4, 1e-8);
  rotary.scaling = RotaryScaling::linear;
  EXPECT_NEAR(rotary.angle_of(0), 0.125, 1e-15);
}

}  // namespace
}  // namespace fourhold::engine

// The numbers do not depend on the CPU: every instruction set the kernels are compiled for gives
// the bits of the others.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstddef>
#include <vector>

#include "fourhold/engine/optimizer/gradient_norm.h"
#include "fourhold/engine/optimizer/update.h"
#include "fourhold/engine/tensor/counter_random.h"
#include "tests/engine/optimizer/owned_shard.h"

namespace fourhold::engine {
namespace {

using plan::Optimizer;
using plan::Precision;

// Makes the kernels run with one instruction set alone while it lives.
class OnlyTarget {
 public:
  explicit OnlyTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~OnlyTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  OnlyTarget(const OnlyTarget&) = delete;
  OnlyTarget& operator=(const OnlyTarget&) = delete;
};

// The best this CPU has, AVX2 and the portable form; at least two of them on any x86-64.
std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> result;
  for (const std::int64_t target : {std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}}) {
    if ((hwy::SupportedTargets() & target) != 0) result.push_back(target);
  }
  result.push_back(HWY_STATIC_TARGET);
  return result;
}

std::vector<float> normals(std::string_view stream, std::size_t count) {
  const CounterRandom random(23, stream);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.normal(i);
  return values;
}

TEST(InstructionSets, EveryUpdateGivesTheSameBits) {
  constexpr std::size_t kCount = 1003;
  for (const Precision precision :
       {Precision::fp32, Precision::bf16, Precision::bf16_split, Precision::bf16_kahan,
        Precision::bf16_sr, Precision::bf16_pure}) {
    for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::lion, Optimizer::sgd_momentum}) {
      std::vector<std::vector<std::byte>> states;
      std::vector<std::int64_t> lost;
      for (const std::int64_t target : targets()) {
        const OnlyTarget only(target);
        const bool fp32 = precision == Precision::fp32;
        OwnedShard shard(precision, normals("w", kCount), fp32 ? DType::fp32 : DType::bf16, 5);
        Hyperparameters hyperparameters;
        hyperparameters.optimizer = optimizer;
        for (std::int64_t step = 1; step <= 3; ++step) {
          shard.set_gradient(normals("g" + std::to_string(step), kCount));
          const auto report = update(
              shard.view(), step_factors(hyperparameters, WeightDecay::decayed, step, 1e-3, 0.7),
              {precision, 4, step}, Pass::write);
          if (step == 3) lost.push_back(report.lost);
        }
        states.push_back(shard.state());
      }
      for (std::size_t i = 1; i < states.size(); ++i) {
        EXPECT_EQ(states[i], states[0]);
        EXPECT_EQ(lost[i], lost[0]);
      }
    }
  }
}

TEST(InstructionSets, RandomNumbersAndNormsAreTheSame) {
  std::vector<std::vector<std::uint32_t>> draws;
  std::vector<double> norms;
  for (const std::int64_t target : targets()) {
    const OnlyTarget only(target);
    draws.emplace_back(1001);
    CounterRandom(2, "r", 8).fill_uniform32(3, draws.back());
    auto gradient = normals("g", 10007);
    norms.push_back(squared_norm({reinterpret_cast<std::byte*>(gradient.data()), DType::fp32,
                                  Dims{static_cast<std::int64_t>(gradient.size())}},
                                 2)
                        .value());
  }
  for (std::size_t i = 1; i < draws.size(); ++i) {
    EXPECT_EQ(draws[i], draws[0]);
    EXPECT_EQ(norms[i], norms[0]);
  }
}

}  // namespace
}  // namespace fourhold::engine

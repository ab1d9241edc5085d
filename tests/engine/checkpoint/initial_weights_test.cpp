#include "fourhold/engine/checkpoint/initial_weights.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/model/load_model.h"
#include "tests/engine/checkpoint/tiny_models.h"

namespace fourhold::engine {
namespace {

using model::Block;
using model::ParameterId;
using model::TensorName;

std::vector<float> draw(const model::ModelConfig& config, const ParameterId& id, std::int64_t begin,
                        std::int64_t end, std::uint64_t seed = 1) {
  std::vector<float> values(static_cast<std::size_t>(end - begin));
  fill_initial(config, id, {seed}, begin, end, DType::fp32,
               reinterpret_cast<std::byte*>(values.data()));
  return values;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};
Moments moments_of(const std::vector<float>& values) {
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(values.size());
  return {sum / count, std::sqrt(squares / count - sum / count * sum / count)};
}

// Of n = 2^18 draws the mean deviates by sigma / 512 and the deviation by sigma / 724: five of
// each.
void expect_normal(const model::ModelConfig& config, const ParameterId& id, double sigma) {
  const Moments moments = moments_of(draw(config, id, 0, 1 << 18));
  EXPECT_NEAR(moments.mean, 0, 5 * sigma / 512) << to_string(id);
  EXPECT_NEAR(moments.deviation, sigma, 5 * sigma / 724) << to_string(id);
}

// gpt2 has 12 layers: 0.02 / sqrt(24) = 0.00408248.
TEST(InitialWeights, Gpt2ScalesWhatIsAddedToTheResidualStream) {
  const model::ModelConfig config = model::load_model("gpt2");
  expect_normal(config, {Block::layer, 0, TensorName::q_weight}, 0.02);
  expect_normal(config, {Block::layer, 5, TensorName::up_weight}, 0.02);
  expect_normal(config, {Block::layer, 5, TensorName::o_weight}, 0.00408248);
  expect_normal(config, {Block::layer, 5, TensorName::down_weight}, 0.00408248);
  expect_normal(config, {Block::embedding, ParameterId::kNoLayer, TensorName::token_embedding},
                0.02);
  expect_normal(config, {Block::embedding, ParameterId::kNoLayer, TensorName::position_embedding},
                0.02);
}

TEST(InitialWeights, LlamaScalesNothing) {
  const model::ModelConfig config = model::load_model("llama-3.2-1b");
  expect_normal(config, {Block::layer, 15, TensorName::down_weight}, 0.02);
  expect_normal(config, {Block::layer, 15, TensorName::o_weight}, 0.02);
}

TEST(InitialWeights, NormsStartAtOneAndBiasesAtZero) {
  const model::ModelConfig config = model::load_model("gpt2");
  const std::vector<float> ones(768, 1.0F);
  const std::vector<float> zeros(768, 0.0F);
  EXPECT_EQ(draw(config, {Block::layer, 0, TensorName::norm1_weight}, 0, 768), ones);
  EXPECT_EQ(
      draw(config, {Block::head, ParameterId::kNoLayer, TensorName::final_norm_weight}, 0, 768),
      ones);
  EXPECT_EQ(draw(config, {Block::layer, 0, TensorName::norm1_bias}, 0, 768), zeros);
  EXPECT_EQ(draw(config, {Block::layer, 0, TensorName::q_bias}, 0, 768), zeros);
  EXPECT_EQ(draw(tiny_qwen3(), {Block::layer, 0, TensorName::q_norm_weight}, 0, 6),
            std::vector<float>(6, 1.0F));
}

RC_GTEST_PROP(InitialWeights, EverySplitDrawsTheSameNumbers, ()) {
  const model::ModelConfig config = tiny_gpt2();
  const ParameterId id{Block::layer, 1, TensorName::up_weight};
  const std::vector<float> whole = draw(config, id, 0, 1000);
  const auto begin = *rc::gen::inRange<std::int64_t>(0, 1000);
  const auto end = *rc::gen::inRange<std::int64_t>(begin, 1001);
  const std::vector<float> part = draw(config, id, begin, end);
  RC_ASSERT(std::equal(part.begin(), part.end(), whole.begin() + begin));
}

TEST(InitialWeights, ParametersAndSeedsHaveStreamsOfTheirOwn) {
  const model::ModelConfig config = tiny_gpt2();
  const ParameterId q{Block::layer, 0, TensorName::q_weight};
  EXPECT_NE(draw(config, q, 0, 64), draw(config, {Block::layer, 1, TensorName::q_weight}, 0, 64));
  EXPECT_NE(draw(config, q, 0, 64), draw(config, {Block::layer, 0, TensorName::k_weight}, 0, 64));
  EXPECT_NE(draw(config, q, 0, 64), draw(config, q, 0, 64, 2));
}

TEST(InitialWeights, AnUnknownTypeOrRangeIsRefused) {
  EXPECT_THROW(static_cast<void>(
                   initial_deviation(model::load_model("gemma-2b"), TensorName::q_weight, 0.02)),
               Error);
  EXPECT_THROW(static_cast<void>(initial_deviation(tiny_gpt2(), TensorName::q_weight, 0)), Error);
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/predict/model_flops.h"

#include <gtest/gtest.h>

#include "fourhold/model/load_model.h"
#include "fourhold/model/parameters.h"
#include "measured_rows.h"
#include "small_plans.h"

namespace fourhold::predict {
namespace {

model::ModelConfig gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                       std::int64_t seq, std::int64_t vocab) {
  return test::gpt_of({{"id", "gpt"},
                       {"layers", std::to_string(layers)},
                       {"hidden", std::to_string(hidden)},
                       {"heads", std::to_string(heads)},
                       {"seq_len", std::to_string(seq)},
                       {"ffn", std::to_string(4 * hidden)},
                       {"vocab", std::to_string(vocab)}},
                      0);
}

TEST(ModelFlops, AreNarayanansEquationThreeWithoutTheRecomputedForward) {
  // 72 s L h^2 (1 + s / (6 h) + V / (12 L h)) for one sequence (Korthikanti 2022, appendix A).
  for (const auto& [layers, h] : {std::pair{24.0, 2304.0}, {40.0, 6144.0}, {96.0, 12288.0}}) {
    const double s = 2048;
    const double vocab = 51200;
    const double expected = 72 * s * layers * h * h * (1 + s / (6 * h) + vocab / (12 * layers * h));
    const double flops = model_flops_per_sequence(
        gpt(static_cast<std::int64_t>(layers), static_cast<std::int64_t>(h), 24, 2048, 51200),
        2048);
    EXPECT_NEAR(flops / expected, 1, 1e-12);
  }
}

TEST(ModelFlops, AreSixPerParameterAndTokenWhereSequencesAreShort) {
  // llama-3.1-8b: 8,030,261,248 parameters, 525,336,576 of them in the embedding, 32 x 2 x 4096 +
  // 4096 in norms; attention adds 12 x 32 x 4096 per token and key.
  const model::ModelConfig config = model::load_model("llama-3.1-8b");
  const double products = 8030261248.0 - 525336576.0 - 266240.0;
  EXPECT_DOUBLE_EQ(model_flops_per_sequence(config, 1), 6 * products + 12.0 * 32 * 4096);
}

TEST(ModelFlops, CountActiveExpertsOnly) {
  // Per token and layer: attention 768, router 64, two experts of 3 x 24 x 16; head 40 x 16.
  const double products = 6 * (768.0 + 64 + 2 * 3 * 24 * 16) + 40 * 16;
  EXPECT_DOUBLE_EQ(model_flops_per_sequence(test::small_model("mixtral"), 32),
                   32 * (6 * products + 12.0 * 6 * 16 * 32));
}

// A layer of multi-token prediction is one of the model's layers, a product of 2 h x h and one more
// head.
TEST(ModelFlops, OfAPredictionLayerAreALayerAProjectionAndAHead) {
  const model::ModelConfig config = test::small_model("llama");
  model::ModelConfig longer = config;
  longer.layers.push_back(longer.layers.back());
  const double layer = model_flops_per_sequence(longer, 32) - model_flops_per_sequence(config, 32);
  const double more =
      model_flops_per_sequence(config, 32, 1) - model_flops_per_sequence(config, 32);
  EXPECT_DOUBLE_EQ(more, layer + 6.0 * 32 * (2 * 16 * 16 + 40 * 16));
}

}  // namespace
}  // namespace fourhold::predict

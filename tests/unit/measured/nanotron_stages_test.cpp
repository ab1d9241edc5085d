#include "fourhold/measured/nanotron_stages.h"

#include <numeric>

#include <gtest/gtest.h>

namespace fourhold::measured {
namespace {

model::ModelConfig llama(std::int64_t layers, std::int64_t hidden, std::int64_t ffn) {
  model::ModelConfig config;
  config.vocab = 131072;
  config.hidden = hidden;
  model::LayerKind kind;
  kind.attention.heads = 32;
  kind.attention.kv_heads = 32;
  kind.attention.head_dim = hidden / 32;
  kind.feed_forward.width = ffn;
  config.kinds = {kind};
  config.layers.assign(static_cast<std::size_t>(layers), 0);
  return config;
}

// Layers of the first stage that the memory of the published runs shows.
TEST(NanotronStages, FirstStageOfPublishedRuns) {
  const model::ModelConfig small = llama(16, 2048, 8192);
  EXPECT_EQ(nanotron_stages(small, 2).front(), 10);
  EXPECT_EQ(nanotron_stages(small, 4).front(), 5);
  EXPECT_EQ(nanotron_stages(small, 8).front(), 3);
  const model::ModelConfig large = llama(32, 4096, 14336);
  EXPECT_EQ(nanotron_stages(large, 2).front(), 18);
  EXPECT_EQ(nanotron_stages(large, 4).front(), 9);
  EXPECT_EQ(nanotron_stages(large, 8).front(), 5);
  EXPECT_EQ(nanotron_stages(large, 16).front(), 3);
  EXPECT_EQ(nanotron_stages(large, 32).front(), 2);
}

TEST(NanotronStages, EveryLayerHasAStage) {
  for (const std::int64_t pp : {1, 2, 3, 4, 8, 16}) {
    const auto stages = nanotron_stages(llama(16, 2048, 8192), pp);
    EXPECT_EQ(std::accumulate(stages.begin(), stages.end(), std::int64_t{0}), 16) << pp;
  }
}

}  // namespace
}  // namespace fourhold::measured

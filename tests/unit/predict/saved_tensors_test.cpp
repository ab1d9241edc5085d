// What switches of a profile make a layer keep: sizes worked out by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "fourhold/model/load_model.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/memory.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold::predict {
namespace {

// One device, two sequences of 64 tokens.
plan::Plan small_plan(const model::ModelConfig& config) {
  plan::Plan plan;
  plan.seq = 64;
  plan.micro_batch = 2;
  plan.layers_per_stage = plan::canonical_layout(config.layer_count(), 1);
  plan.global_batch = plan.micro_batch;
  return plan;
}

TEST(SavedTensors, MergedAttentionKeepsItsOutputTwice) {
  const model::ModelConfig config = model::load_model("gpt2");
  plan::Profile profile = plan::load_profile("standard");
  const auto allocated = [&] {
    return predict_memory(config, small_plan(config), profile).allocated_bytes.count();
  };
  const std::int64_t once = allocated();
  profile.switches.attention = model::AttentionSaving::flash_merged;
  // 12 layers of 2 x 64 tokens by 768 in 16 bits.
  EXPECT_EQ(allocated() - once, 12 * 2 * 64 * 768 * 2);
}

TEST(SavedTensors, QueryInsideTheMergedProductKeepsAllOfIt) {
  plan::Profile profile = plan::load_profile("standard");
  const auto allocated = [&](const model::ModelConfig& config) {
    return predict_memory(config, small_plan(config), profile).allocated_bytes.count();
  };
  const model::ModelConfig gpt2 = model::load_model("gpt2");
  const model::ModelConfig grouped = test::small_model("mixtral");
  const std::int64_t apart = allocated(gpt2);
  const std::int64_t grouped_apart = allocated(grouped);
  profile.switches.fused_qkv = model::FusedQkv::query;
  // Keys and values beside their copies: 12 layers of 2 x 2 x 64 tokens by 768 in 16 bits.
  EXPECT_EQ(allocated(gpt2) - apart, 12 * 2 * 2 * 64 * 768 * 2);
  // Fewer heads of keys than of queries are copied out of the product, which then goes.
  EXPECT_EQ(allocated(grouped), grouped_apart);
}

TEST(SavedTensors, PlainExpertsScaledInsideKeepTheirActivation) {
  model::ModelConfig config = test::small_model("mixtral");
  for (model::LayerKind& kind : config.kinds) kind.feed_forward.gated = false;
  plan::Profile profile = plan::load_profile("standard");
  const auto kept = [&](std::string_view name) {
    std::int64_t bytes = 0;
    for (const ledger::Entry& entry :
         predict_memory(config, small_plan(config), profile).worst().ledger.entries) {
      const bool saved = entry.category == ledger::Category::saved_activation;
      if (saved && entry.key.name == name) bytes += entry.bytes.count();
    }
    return bytes;
  };
  // 2 x 64 tokens of 2 experts each: 256 rows of 24 wide and 16 out, in 16 bits.
  EXPECT_EQ(kept("expert_activated"), 0);
  EXPECT_EQ(kept("returned") + kept("expert_out"), 2 * 256 * 16);
  profile.switches.expert_scaling = model::ExpertScaling::inside_activation;
  EXPECT_EQ(kept("expert_activated"), 2 * 256 * 24);
  EXPECT_EQ(kept("expert_product"), 2 * 256 * 24);
  EXPECT_EQ(kept("returned") + kept("expert_out"), 0);
}

}  // namespace
}  // namespace fourhold::predict

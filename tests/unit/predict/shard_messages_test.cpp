// Messages of ZeRO-3 as FSDP2 allocates them, on a model of six layers by hand.
#include "fourhold/predict/shard_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fourhold/predict/expanded_ledger.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold::predict {
namespace {

constexpr std::int64_t kLayers = 6;
constexpr std::int64_t kTable = 16000 * 1024;  // embedding, and head

ExpandedRun run_of(plan::WholeWeights whole) {
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type":"llama","hidden_size":1024,"intermediate_size":2816,)"
      R"("num_attention_heads":8,"num_key_value_heads":4,"num_hidden_layers":6,)"
      R"("vocab_size":16000,"max_position_embeddings":4096,"tie_word_embeddings":false})",
      "middle");
  plan::Profile profile = plan::load_profile("fsdp2");
  profile.whole_weights = whole;
  plan::Plan plan;
  plan.profile = "fsdp2";
  plan.dp = 8;
  plan.zero = 3;
  plan.seq = 1024;
  plan.micro_batch = 1;
  plan.grad_accum = 1;
  plan.global_batch = 8;
  plan.layers_per_stage = {kLayers};
  return expanded_run(config, plan, profile, 0);
}

// Forward gathers embedding, layers and head, backward layers and embedding: the head's weights
// stay. Each message of forward but the last is there until the next block begins.
TEST(ShardMessages, OneForEachGatheringOfABlock) {
  const ShardMessages messages = run_of(plan::WholeWeights::head).messages;
  ASSERT_EQ(messages.gathers.size(), static_cast<std::size_t>(2 * kLayers + 3));
  EXPECT_EQ(messages.gathers.front().bytes, 2 * kTable);
  EXPECT_EQ(messages.gathers[kLayers + 1].bytes, 2 * (kTable + 1024));  // with the last norm
  for (std::size_t i = 1; i <= kLayers; ++i) {
    EXPECT_LT(messages.gathers[i].first_step, messages.gathers[i - 1].last_step) << i;
    EXPECT_LT(messages.gathers[i - 1].last_step, messages.gathers[i].last_step) << i;
  }
  // Backward, a block's message is gone before the next is gathered.
  for (std::size_t i = kLayers + 3; i < messages.gathers.size(); ++i) {
    EXPECT_LT(messages.gathers[i - 1].last_step, messages.gathers[i].first_step) << i;
  }
  // Gradients leave in fp32, head first.
  ASSERT_EQ(messages.reductions.size(), static_cast<std::size_t>(kLayers + 2));
  EXPECT_EQ(messages.reductions.front().bytes, 4 * (kTable + 1024));
  EXPECT_EQ(messages.reductions.back().bytes, 4 * kTable);
  for (std::size_t i = 1; i < messages.reductions.size(); ++i) {
    EXPECT_EQ(messages.reductions[i - 1].last_step + 1, messages.reductions[i].first_step) << i;
  }
}

// Weights are copied when their block begins, not when it is gathered.
TEST(ShardMessages, CopiesAreMadeWhenTheirBlockBegins) {
  const ExpandedRun run = run_of(plan::WholeWeights::head);
  ASSERT_FALSE(run.messages.weights.empty());
  for (const Lifetime& copy : run.messages.weights) {
    const ledger::Entry& entry = run.ledger.entries[static_cast<std::size_t>(copy.entry)];
    EXPECT_EQ(entry.category, ledger::Category::gathered_weight);
    EXPECT_GT(copy.first_step, entry.first_step);
    EXPECT_EQ(copy.last_step, entry.last_step);
  }
}

// FSDP2's root: embedding and head arrive in one piece, and neither is gathered again.
TEST(ShardMessages, BothEndsArriveTogetherAndStay) {
  const ShardMessages messages = run_of(plan::WholeWeights::ends).messages;
  EXPECT_EQ(messages.gathers.size(), static_cast<std::size_t>(2 * kLayers + 1));
  EXPECT_EQ(messages.gathers.front().bytes, 2 * (2 * kTable + 1024));
  // One entry of the embedding's two has no memory, the other has it from forward to backward.
  const auto without =
      std::count_if(messages.weights.begin(), messages.weights.end(),
                    [](const Lifetime& copy) { return copy.last_step < copy.first_step; });
  EXPECT_EQ(without, 1);
}

TEST(ShardMessages, WhereAllWeightsStayBackwardGathersNone) {
  const ShardMessages messages = run_of(plan::WholeWeights::all).messages;
  EXPECT_EQ(messages.gathers.size(), static_cast<std::size_t>(kLayers + 1));
}

}  // namespace
}  // namespace fourhold::predict

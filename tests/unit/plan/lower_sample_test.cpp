#include "fourhold/plan/lower_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/plan/attention_scratch.h"
#include "fourhold/plan/expand.h"

namespace fourhold::plan {
namespace {

// Two layers; the head is the embedding's table.
const char* const kTied = R"({"model_type":"gpt2","n_embd":16,"n_layer":2,"n_head":4,
                              "n_positions":64,"vocab_size":40})";

std::vector<SamplePass> lowered(std::int64_t prompt_tokens, std::int64_t sequences = 2,
                                std::int64_t seq = 10) {
  const model::ModelConfig config = model::read_hf_config(kTied, "tied");
  Plan plan;
  plan.micro_batch = sequences;
  plan.seq = seq;
  plan.isa = "portable";
  plan.layers_per_stage = {config.layer_count()};
  return lower_sample(config, plan, load_profile("fourhold"), {prompt_tokens});
}

std::vector<StepInstance> expanded(const SamplePass& pass) {
  std::vector<StepInstance> steps;
  expand(pass.program, pass.blocks, [&](const StepInstance& step) { steps.push_back(step); });
  return steps;
}

const Step& attention_of(const ProgramBlock& layer) {
  return *std::find_if(layer.forward.begin(), layer.forward.end(), [&](const Step& step) {
    return layer.sharded.operations.operations[static_cast<std::size_t>(step.operation)].kind ==
           model::OpKind::attention;
  });
}

const ProgramBlock& layer_of(const SamplePass& pass) {
  return pass.blocks.blocks[static_cast<std::size_t>(pass.blocks.layer_of_kind[0])];
}

TEST(LowerSample, ThePromptsPassHasNoHeadAndTheLastPassEndsWithAChoice) {
  const std::vector<SamplePass> passes = lowered(4);
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].tokens, 4);
  EXPECT_EQ(passes[1].tokens, 1);
  for (std::int32_t i = 0; i < 2; ++i) {
    const std::vector<StepInstance> steps = expanded(passes[static_cast<std::size_t>(i)]);
    EXPECT_EQ(steps.front().work, Work::load_ids);
    const bool has_head = std::any_of(steps.begin(), steps.end(), [&](const StepInstance& step) {
      return step.block == passes[0].blocks.head;
    });
    EXPECT_EQ(has_head, i == 1);
    EXPECT_EQ(steps.back().work, i == 1 ? Work::choose_token : Work::compute);
    for (const StepInstance& step : steps) EXPECT_EQ(step.micro_batch, i);
  }
}

TEST(LowerSample, WithoutAPromptToReadThereIsOnePass) {
  EXPECT_EQ(lowered(0).size(), 1U);
  EXPECT_EQ(lowered(0)[0].program.pass, 0);
}

// Of two sequences of ten tokens, four heads of four.
TEST(LowerSample, AttentionAppendsToCachesOfAllTokens) {
  for (const SamplePass& pass : lowered(4)) {
    const ProgramBlock& layer = layer_of(pass);
    std::vector<const ProgramTensor*> caches;
    for (const Access& access : attention_of(layer).accesses) {
      if (access.mode != AccessMode::append) continue;
      caches.push_back(&layer.tensors[static_cast<std::size_t>(access.tensor)]);
    }
    ASSERT_EQ(caches.size(), 2U);
    EXPECT_EQ(caches[0]->name, model::TensorName::k_cache);
    EXPECT_EQ(caches[1]->name, model::TensorName::v_cache);
    for (const ProgramTensor* cache : caches) {
      EXPECT_EQ(cache->category, ledger::Category::kv_cache);
      EXPECT_EQ(cache->shape.elements(), 2 * 10 * 4 * 4);
      EXPECT_EQ(cache->dtype, DType::bf16);
    }
  }
}

TEST(LowerSample, TheHeadEndsWithTheLogitsOfOneTokenOfEachSequence) {
  const SamplePass pass = lowered(4).back();
  const ProgramBlock& head = pass.blocks.blocks[static_cast<std::size_t>(pass.blocks.head)];
  const ProgramTensor& output = head.tensors[static_cast<std::size_t>(head.output)];
  EXPECT_EQ(output.name, model::TensorName::logits);
  EXPECT_EQ(output.shape.elements(), 2 * 40);
  for (const Step& step : head.forward) {
    EXPECT_NE(head.sharded.operations.operations[static_cast<std::size_t>(step.operation)].kind,
              model::OpKind::cross_entropy);
  }
}

TEST(LowerSample, NothingIsTrainedAndNothingRunsBackward) {
  for (const SamplePass& pass : lowered(4)) {
    for (const ProgramBlock& block : pass.blocks.blocks) {
      EXPECT_TRUE(block.backward.empty());
      for (const LocalParameter& parameter : block.sharded.parameters) {
        EXPECT_FALSE(parameter.use.trainable);
      }
    }
  }
}

TEST(LowerSample, AttentionHasTheScratchOfItsOwnRule) {
  const SamplePass pass = lowered(0).back();
  const ProgramBlock& layer = layer_of(pass);
  const Access& last = attention_of(layer).accesses[attention_of(layer).accesses.size() - 1];
  const ProgramTensor& scratch = layer.tensors[static_cast<std::size_t>(last.tensor)];
  EXPECT_EQ(scratch.name, model::TensorName::kernel_scratch);
  EXPECT_EQ(scratch.shape.elements(), cached_attention_scratch_bytes(4, 1));
}

TEST(LowerSample, SizesBeyondSixtyFourBitsAreRefused) {
  EXPECT_THROW(static_cast<void>(lowered(0, std::int64_t{1} << 40, std::int64_t{1} << 40)), Error);
}

}  // namespace
}  // namespace fourhold::plan

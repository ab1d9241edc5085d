#include "fourhold/predict/step_work.h"

#include <gtest/gtest.h>

#include "small_plans.h"

namespace fourhold::predict {
namespace {

using model::OpKind;
using plan::Phase;

// h 16, 4 heads of 4, f 64 (gpt2) or 24 (llama), vocabulary 40, one sequence.
struct Layer {
  plan::ProgramBlock block;
  model::BatchSizes sizes;
};
Layer layer_of(const std::string& family, std::int64_t seq, const std::string& profile) {
  plan::Plan plan;
  plan.seq = seq;
  plan.layers_per_stage = {6};
  const plan::ProgramBlocks blocks =
      plan::lower_blocks(test::small_model(family), plan, plan::load_profile(profile));
  return {blocks.blocks[static_cast<std::size_t>(blocks.layer_of_kind.front())],
          {.micro_batch = 1, .seq = seq}};
}

const model::Operation& operation_of(const Layer& layer, const plan::Step& step) {
  return layer.block.sharded.operations.operations[static_cast<std::size_t>(step.operation)];
}

// Sum over the steps of a kind in one phase.
StepWork sum_of(const Layer& layer, OpKind kind, Phase phase) {
  StepWork sum;
  for (const auto* steps : {&layer.block.forward, &layer.block.backward}) {
    for (const plan::Step& step : *steps) {
      if (step.phase != phase || operation_of(layer, step).kind != kind) continue;
      const StepWork work = step_work(layer.block, step, layer.sizes);
      sum.matmul_flops += work.matmul_flops;
      sum.score_flops += work.score_flops;
      sum.fused_attention_flops += work.fused_attention_flops;
      sum.model_flops += work.model_flops;
      sum.memory_bytes += work.memory_bytes;
      sum.kernels += work.kernels;
      sum.host_operations += work.host_operations;
      sum.quantised_elements += work.quantised_elements;
      sum.softmax_scores += work.softmax_scores;
    }
  }
  return sum;
}

TEST(StepWork, ProductsOfALayerAreTwentyFourTHSquared) {
  // Narayanan 2021, appendix: 2 T h (3 h + h + 4 h + 4 h) = 24 T h^2, twice that backward.
  const Layer layer = layer_of("gpt2", 32, "standard");
  EXPECT_EQ(sum_of(layer, OpKind::linear, Phase::forward).matmul_flops, 24.0 * 32 * 16 * 16);
  EXPECT_EQ(sum_of(layer, OpKind::linear, Phase::backward).matmul_flops, 48.0 * 32 * 16 * 16);
}

TEST(StepWork, QuantisedAreInputsForwardAndGradientsOfOutputsBackward) {
  // Forward the inputs of q, k and v (one), of the output, of up and of down: h + h + h + 4 h;
  // backward the gradients of their outputs: 3 h + h + 4 h + h.
  const Layer layer = layer_of("gpt2", 32, "standard");
  EXPECT_EQ(sum_of(layer, OpKind::linear, Phase::forward).quantised_elements, 7.0 * 32 * 16);
  EXPECT_EQ(sum_of(layer, OpKind::linear, Phase::backward).quantised_elements, 9.0 * 32 * 16);
}

TEST(StepWork, UnfusedAttentionComputesTheWholeSquare) {
  // q k^T: 2 x 32 tokens x 32 keys x 4 heads x 4; the weighted sum the same.
  const Layer layer = layer_of("gpt2", 32, "megatron-2021");
  for (const OpKind kind : {OpKind::attention_scores, OpKind::attention_values}) {
    EXPECT_EQ(sum_of(layer, kind, Phase::forward).score_flops, 2.0 * 32 * 32 * 16);
    EXPECT_EQ(sum_of(layer, kind, Phase::backward).score_flops, 4.0 * 32 * 32 * 16);
  }
  EXPECT_EQ(sum_of(layer, OpKind::softmax, Phase::forward).softmax_scores, 4.0 * 32 * 32);
}

TEST(StepWork, FusedAttentionVisitsBlocksOfVisibleKeys) {
  // 1024 tokens: 512.5 keys are visible on average, 64 more are visited; 2 (4 + 4) FLOPs for each
  // of 4 heads. Backward has 5 products for 2; model FLOPs count the square and 4 for 2.
  const Layer layer = layer_of("gpt2", 1024, "standard");
  const StepWork forward = sum_of(layer, OpKind::attention, Phase::forward);
  const StepWork backward = sum_of(layer, OpKind::attention, Phase::backward);
  EXPECT_EQ(forward.fused_attention_flops, 1024.0 * 4 * 16 * (512.5 + 64));
  EXPECT_EQ(backward.fused_attention_flops, 2.5 * 1024 * 4 * 16 * (512.5 + 64));
  EXPECT_EQ(forward.model_flops, 1024.0 * 4 * 16 * 1024);
  EXPECT_EQ(backward.model_flops, 2 * forward.model_flops);
}

TEST(StepWork, AWindowLimitsTheKeysAQuerySees) {
  EXPECT_EQ(mean_visible_keys(4, 0), 2.5);      // 1 2 3 4
  EXPECT_EQ(mean_visible_keys(4, 2), 7.0 / 4);  // 1 2 2 2
  EXPECT_EQ(mean_visible_keys(4, 100), 2.5);
}

TEST(StepWork, ANormReadsAndWritesItsRow) {
  // Two norms of 32 x 16 in bf16: 1024 read, 1024 written, 64 of weight and bias, 256 of
  // statistics.
  const Layer layer = layer_of("gpt2", 32, "standard");
  EXPECT_EQ(sum_of(layer, OpKind::norm, Phase::forward).memory_bytes, 2 * (1024 + 1024 + 64 + 256));
}

TEST(StepWork, QueryKeyAndValueAreOneProductThatReadsItsInputOnce) {
  const Layer layer = layer_of("llama", 32, "standard");
  // q, k, v as one, then the output; gate and up as one, then down.
  EXPECT_EQ(sum_of(layer, OpKind::linear, Phase::forward).kernels, 4);
  // Inputs: stream 1024 twice, attention's output 1024, product 32 x 24 x 2 = 1536. Outputs: q
  // 1024, k and v 512 each, 1024, gate and up 1536 each, 1024. Weights: 2 x (256 + 128 + 128 + 256
  // + 3 x 384).
  EXPECT_EQ(sum_of(layer, OpKind::linear, Phase::forward).memory_bytes,
            (3 * 1024 + 1536) + (1024 + 2 * 512 + 1024 + 2 * 1536 + 1024) + 2 * 1920);
}

TEST(StepWork, ResidualDropoutRidesAlongWithItsSum) {
  // Masks of a byte for 32 x 16 elements, two of them; the tensors themselves move with the sum.
  const Layer layer = layer_of("gpt2", 32, "standard");
  const StepWork dropout = sum_of(layer, OpKind::dropout, Phase::forward);
  EXPECT_EQ(dropout.memory_bytes, 2 * 512);
  EXPECT_EQ(dropout.kernels, 0);
}

TEST(StepWork, ALayersForwardIsAboutAsManyCallsAsWereCounted) {
  const auto calls = [](const Layer& layer) {
    int sum = 0;
    for (const plan::Step& step : layer.block.forward) {
      sum += step_work(layer.block, step, layer.sizes).host_operations;
    }
    return sum;
  };
  EXPECT_EQ(calls(layer_of("gpt2", 32, "megatron-2021")), 26);
  EXPECT_EQ(calls(layer_of("llama", 32, "nanotron")), 34);
}

TEST(StepWork, AChunkedLossMakesThreeProductsForward) {
  // 32 tokens x 16 x 40 of vocabulary.
  plan::Plan plan;
  plan.seq = 32;
  plan.layers_per_stage = {6};
  plan.loss_chunk = 8;
  const plan::ProgramBlocks blocks =
      plan::lower_blocks(test::small_model("llama"), plan, plan::load_profile("standard"));
  const plan::ProgramBlock& head = blocks.blocks[static_cast<std::size_t>(blocks.head)];
  double flops = 0;
  for (const auto* steps : {&head.forward, &head.backward}) {
    for (const plan::Step& step : *steps) {
      flops += step_work(head, step, {.micro_batch = 1, .seq = 32}).matmul_flops;
    }
  }
  EXPECT_EQ(flops, 3.0 * 2 * 32 * 16 * 40);
}

}  // namespace
}  // namespace fourhold::predict

// The products that a step runs are those that time is predicted from.
#include <gtest/gtest.h>

#include "fourhold/plan/recompute_policy.h"
#include "fourhold/predict/step_work.h"
#include "tests/engine/executor/run_fixture.h"

namespace fourhold::engine::testing {
namespace {

using plan::Phase;

TinyRun run_with(Family family, const char* recompute) {
  return make_run(family, [&](plan::Plan& plan) {
    plan.recompute = plan::recompute_from_string(recompute);
    plan.loss_chunk = 0;
  });
}

// What step_work.h counts for the blocks of one micro-batch.
double predicted_flops(const TinyRun& run, Phase phase) {
  const plan::ProgramBlocks blocks = plan::lower_blocks(run.config, run.plan, run.profile);
  const plan::Program program =
      plan::lower(run.config, blocks, run.plan, run.profile, 0, plan::ProgramKind::train_step);
  const model::BatchSizes sizes{.micro_batch = run.plan.micro_batch, .seq = run.plan.seq};
  double flops = 0;
  const auto add = [&](std::int16_t index) {
    const plan::ProgramBlock& block = blocks.blocks[static_cast<std::size_t>(index)];
    for (const auto* steps : {&block.forward, &block.backward}) {
      for (const plan::Step& step : *steps) {
        if (step.phase == phase) flops += predict::step_work(block, step, sizes).matmul_flops;
      }
    }
  };
  for (const plan::Chunk& chunk : program.chunks) {
    for (const std::int16_t layer : chunk.layer_blocks) add(layer);
  }
  add(blocks.head);
  return flops;
}

TEST(ProductFlops, AreThePredictedOnesInEveryPhase) {
  for (const Family family : {Family::gpt2, Family::gpt2_untied, Family::llama, Family::qwen3}) {
    for (const char* policy : {"none", "selective", "full", "full:1"}) {
      const TinyRun run = run_with(family, policy);
      for (const Phase phase : {Phase::forward, Phase::recompute, Phase::backward}) {
        EXPECT_EQ(run.executor->product_flops(phase), predicted_flops(run, phase))
            << static_cast<int>(family) << " " << policy << " " << static_cast<int>(phase);
      }
    }
  }
}

// By hand for GPT-2: 24 d^2 per token and layer forward and 2 d V in the head, twice that backward.
// Full recomputation repeats each layer but the last product, whose output nobody needs: 16 d^2.
TEST(ProductFlops, OfGpt2AreThoseOfItsWidth) {
  const TinyRun run = run_with(Family::gpt2, "full");
  const auto d = static_cast<double>(run.config.hidden);
  const auto tokens = static_cast<double>(run.plan.micro_batch * run.plan.seq);
  const auto layers = static_cast<double>(run.config.layer_count());
  const double layer = tokens * layers * d * d;
  const double head = tokens * 2 * d * static_cast<double>(run.config.vocab);
  EXPECT_EQ(run.executor->product_flops(Phase::forward), 24 * layer + head);
  EXPECT_EQ(run.executor->product_flops(Phase::backward), 2 * (24 * layer + head));
  EXPECT_EQ(run.executor->product_flops(Phase::recompute), 16 * layer);
}

}  // namespace
}  // namespace fourhold::engine::testing

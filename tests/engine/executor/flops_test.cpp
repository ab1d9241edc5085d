// The products that a step runs are those that time is predicted from.
#include <gtest/gtest.h>

#include <map>
#include <utility>

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

// Calls visit(block, step) for all that time is predicted from in one micro-batch.
template <class Visit>
void for_each_step(const TinyRun& run, const Visit& visit) {
  const plan::ProgramBlocks blocks = plan::lower_blocks(run.config, run.plan, run.profile);
  const plan::Program program =
      plan::lower(run.config, blocks, run.plan, run.profile, 0, plan::ProgramKind::train_step);
  const auto visit_block = [&](std::int16_t index) {
    const plan::ProgramBlock& block = blocks.blocks[static_cast<std::size_t>(index)];
    for (const auto* steps : {&block.forward, &block.backward}) {
      for (const plan::Step& step : *steps) visit(block, step);
    }
  };
  visit_block(blocks.embedding);
  for (const plan::Chunk& chunk : program.chunks) {
    for (const std::int16_t layer : chunk.layer_blocks) visit_block(layer);
  }
  visit_block(blocks.head);
}

// What step_work.h counts for the blocks of one micro-batch.
double predicted_flops(const TinyRun& run, Phase phase) {
  const model::BatchSizes sizes{.micro_batch = run.plan.micro_batch, .seq = run.plan.seq};
  double flops = 0;
  for_each_step(run, [&](const plan::ProgramBlock& block, const plan::Step& step) {
    if (step.phase == phase) flops += predict::step_work(block, step, sizes).matmul_flops;
  });
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

// --- what a step runs ---------------------------------------------------------------------------

constexpr Family kFamilies[] = {Family::gpt2, Family::gpt2_untied, Family::llama, Family::qwen3,
                                Family::mistral};
constexpr Phase kPhases[] = {Phase::forward, Phase::recompute, Phase::backward};
// More than the arena is laid out for: those between the first and the last share places.
constexpr std::int64_t kMicroBatches = 5;

// A step of a run, done.
TinyRun step_of(Family family, const char* recompute, std::int64_t loss_chunk = 0) {
  TinyRun run = make_run(family, [&](plan::Plan& plan) {
    plan.precision = plan::Precision::fp32;
    plan.recompute = plan::recompute_from_string(recompute);
    plan.grad_accum = kMicroBatches;
    plan.loss_chunk = loss_chunk;
  });
  fill_weights(*run.executor);
  PlainDriver driver(run);
  run.executor->run_step(driver);
  return run;
}

double flops_run(const Executor& executor) {
  double flops = 0;
  for (const GemmForm form :
       {GemmForm::forward, GemmForm::backward_data, GemmForm::backward_weight}) {
    flops += executor.products_run(form).flops;
  }
  return flops;
}

TEST(Calls, OfEveryKindInEveryPhaseAreThePredictedOnes) {
  for (const Family family : kFamilies) {
    for (const char* policy : {"none", "selective", "full", "full:1"}) {
      const TinyRun run = step_of(family, policy);
      std::map<std::pair<model::OpKind, Phase>, std::int64_t> predicted;
      for_each_step(run, [&](const plan::ProgramBlock& block, const plan::Step& step) {
        const auto at = static_cast<std::size_t>(step.operation);
        predicted[{block.sharded.operations.operations[at].kind, step.phase}] += kMicroBatches;
      });
      for (int i = 0; i <= static_cast<int>(model::OpKind::exchange_experts); ++i) {
        const auto kind = static_cast<model::OpKind>(i);
        for (const Phase phase : kPhases) {
          EXPECT_EQ(run.executor->calls(kind, phase), (predicted[{kind, phase}]))
              << static_cast<int>(family) << " " << policy << " " << model::to_string(kind) << " "
              << static_cast<int>(phase);
        }
      }
      double flops = 0;
      for (const Phase phase : kPhases) flops += kMicroBatches * predicted_flops(run, phase);
      EXPECT_EQ(flops_run(*run.executor), flops) << static_cast<int>(family) << " " << policy;
    }
  }
}

// By hand. A layer of GPT-2 is: norm, q, k, v, attention, output product, sum; norm, up, GELU,
// down, sum. Whole recomputation does all of them again but the last product and sum.
TEST(Calls, OfGpt2UnderFullRecomputationAreThoseOfItsLayers) {
  const TinyRun run = step_of(Family::gpt2, "full");
  const std::int64_t m = kMicroBatches;
  const std::int64_t layers = m * run.config.layer_count();
  struct Expected {
    model::OpKind kind;
    std::int64_t forward;
    std::int64_t recompute;
  };
  for (const Expected& expected : {Expected{model::OpKind::linear, 6 * layers + m, 5 * layers},
                                   Expected{model::OpKind::attention, layers, layers},
                                   Expected{model::OpKind::norm, 2 * layers + m, 2 * layers},
                                   Expected{model::OpKind::activation, layers, layers},
                                   Expected{model::OpKind::add, 2 * layers, layers},
                                   Expected{model::OpKind::cross_entropy, m, 0},
                                   Expected{model::OpKind::embedding_lookup, m, 0}}) {
    SCOPED_TRACE(model::to_string(expected.kind));
    EXPECT_EQ(run.executor->calls(expected.kind, Phase::forward), expected.forward);
    EXPECT_EQ(run.executor->calls(expected.kind, Phase::recompute), expected.recompute);
    EXPECT_EQ(run.executor->calls(expected.kind, Phase::backward), expected.forward);
  }
  EXPECT_EQ(run.executor->products_run(GemmForm::forward).calls, 11 * layers + m);
  EXPECT_EQ(run.executor->products_run(GemmForm::backward_data).calls, 6 * layers + m);
  EXPECT_EQ(run.executor->products_run(GemmForm::backward_weight).calls, 6 * layers + m);
}

// What recomputation adds to the products of a step is what was predicted for it, and nothing else:
// 16 d^2 per token and layer of GPT-2 for all layers, half of that for one of two; the selective
// kind does attention again, which multiplies with no weight.
TEST(Calls, RecomputationAddsThePredictedProductsAlone) {
  const double kept = flops_run(*step_of(Family::gpt2, "none").executor);
  const TinyRun full = step_of(Family::gpt2, "full");
  const auto d = static_cast<double>(full.config.hidden);
  const auto tokens = static_cast<double>(full.plan.global_batch * full.plan.seq);
  EXPECT_EQ(flops_run(*full.executor) - kept, 2 * 16 * d * d * tokens);
  EXPECT_EQ(flops_run(*step_of(Family::gpt2, "full:1").executor) - kept, 16 * d * d * tokens);
  EXPECT_EQ(flops_run(*step_of(Family::gpt2, "selective").executor), kept);
}

// 32 rows in chunks of 7 are five products of each form for the head's one.
TEST(Calls, AChunkedLossMultipliesAsMuchInFivePieces) {
  const TinyRun whole = step_of(Family::llama, "none");
  const TinyRun chunked = step_of(Family::llama, "none", 7);
  EXPECT_EQ(flops_run(*chunked.executor), flops_run(*whole.executor));
  for (const GemmForm form :
       {GemmForm::forward, GemmForm::backward_data, GemmForm::backward_weight}) {
    EXPECT_EQ(chunked.executor->products_run(form).calls - whole.executor->products_run(form).calls,
              4 * kMicroBatches);
  }
}

}  // namespace
}  // namespace fourhold::engine::testing

#include "fourhold/plan/expand.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/model/hf_config.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {
namespace {

// Two layers; the head is the embedding's table.
const char* const kTied = R"({"model_type":"gpt2","n_embd":16,"n_layer":2,"n_head":4,
                              "n_positions":64,"vocab_size":40})";

struct Expanded {
  ProgramBlocks blocks;
  std::vector<StepInstance> steps;
};

Expanded expanded(ProgramKind kind, Plan plan = {}, std::int64_t stage = 0) {
  const model::ModelConfig config = model::read_hf_config(kTied, "tied");
  plan.seq = 16;
  plan.grad_accum = 2;
  plan.layers_per_stage = canonical_layout(config.layer_count(), plan.pp * plan.vpp);
  const Profile profile = load_profile("standard");
  Expanded result{lower_blocks(config, plan, profile), {}};
  expand(lower(config, result.blocks, plan, profile, stage, kind), result.blocks,
         [&](const StepInstance& step) { result.steps.push_back(step); });
  return result;
}

std::int64_t count(const Expanded& run, Work work) {
  return std::count_if(run.steps.begin(), run.steps.end(),
                       [work](const StepInstance& step) { return step.work == work; });
}
std::ptrdiff_t first(const Expanded& run, Work work) {
  return std::find_if(run.steps.begin(), run.steps.end(),
                      [work](const StepInstance& step) { return step.work == work; }) -
         run.steps.begin();
}

TEST(Expand, TokensAreCountedFirstAndTheLossReducedAfterTheLastMicroBatch) {
  for (const std::int64_t stage : {0, 1}) {
    const Expanded run = expanded(ProgramKind::train_step, {.pp = 2}, stage);
    EXPECT_EQ(first(run, Work::count_tokens), 0);
    EXPECT_EQ(count(run, Work::count_tokens), 1);
    EXPECT_EQ(count(run, Work::reduce_loss), 1);
    const std::ptrdiff_t loss = first(run, Work::reduce_loss);
    EXPECT_EQ(run.steps[static_cast<std::size_t>(loss - 1)].work, Work::end_micro_batch);
    EXPECT_EQ(run.steps[static_cast<std::size_t>(loss + 1)].work, Work::sum_replicas);
  }
}

TEST(Expand, AnEvaluationEndsWithItsLoss) {
  const Expanded run = expanded(ProgramKind::evaluate);
  EXPECT_EQ(first(run, Work::count_tokens), 0);
  EXPECT_EQ(run.steps.back().work, Work::reduce_loss);
  EXPECT_EQ(count(run, Work::end_micro_batch), 2);
  EXPECT_EQ(count(run, Work::gradient_norm), 0);
}

TEST(Expand, AStartFillsEveryWeightAndThenZeroesTheState) {
  const Expanded run = expanded(ProgramKind::start);
  // Two tables, 2 x 16 of layers (two norms, q, k, v, o, up, down, each with a bias), a last norm.
  EXPECT_EQ(count(run, Work::fill_weight), 2 + 2 * 16 + 2);
  // The head's use of the table has a gradient of its own to zero.
  EXPECT_EQ(count(run, Work::zero_state), 2 + 2 * 16 + 2 + 1);
  EXPECT_EQ(first(run, Work::zero_state), 36);
  EXPECT_EQ(run.steps.size(), 36U + 37U);
}

TEST(Expand, ATiedTableOnTwoStagesIsFilledOnBoth) {
  EXPECT_EQ(count(expanded(ProgramKind::start, {.pp = 2}, 0), Work::fill_weight), 2 + 16);
  EXPECT_EQ(count(expanded(ProgramKind::start, {.pp = 2}, 1), Work::fill_weight), 16 + 2 + 1);
}

TEST(Expand, ASaveWritesWhatIsTrained) {
  EXPECT_EQ(expanded(ProgramKind::save).steps.size(), 36U);
  Plan lora;
  lora.tuning = Tuning::lora;
  lora.lora_rank = 2;
  const Expanded run = expanded(ProgramKind::save, lora);
  for (const StepInstance& step : run.steps) {
    EXPECT_EQ(step.work, Work::write_state);
    const auto& parameters =
        run.blocks.blocks[static_cast<std::size_t>(step.block)].sharded.parameters;
    EXPECT_NE(parameters[static_cast<std::size_t>(step.parameter)].use.variant,
              model::Variant::plain);
  }
}

}  // namespace
}  // namespace fourhold::plan

// Buffers of frameworks and their libraries: sizes worked out by hand from the sources that state
// them.
#include "fourhold/predict/framework_buffers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/model/load_model.h"
#include "fourhold/plan/plan.h"
#include "fourhold/predict/memory.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold::predict {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

plan::Plan small_plan(plan::Plan plan, const model::ModelConfig& config) {
  plan.seq = 64;
  plan.micro_batch = 2;
  plan.grad_accum = plan.pp;
  plan.layers_per_stage = plan::canonical_layout(config.layer_count(), plan.pp * plan.vpp);
  if (plan.vpp > 1) plan.schedule = plan::ScheduleKind::interleaved;
  plan.global_batch = plan.micro_batch * plan.grad_accum * plan.dp;
  return plan;
}

// Bytes of the entry of that name on each stage.
std::vector<std::int64_t> held(const model::ModelConfig& config, const plan::Plan& plan,
                               const plan::Profile& profile, std::string_view name) {
  std::vector<std::int64_t> bytes;
  for (const StageMemory& stage :
       predict_memory(config, small_plan(plan, config), profile).stages) {
    bytes.push_back(0);
    for (const ledger::Entry& entry : stage.ledger.entries) {
      if (entry.key.name == name) bytes.back() += (entry.bytes * entry.copies_at_peak).count();
    }
  }
  return bytes;
}

using Sizes = std::vector<std::int64_t>;

TEST(FrameworkBuffers, CublasHasAWorkspaceOnEachOfTwoThreads) {
  const model::ModelConfig config = model::load_model("gpt2");
  plan::Profile profile = plan::load_profile("standard");
  EXPECT_EQ(held(config, {}, profile, "cublas_workspace"), Sizes{0});
  profile.product_workspaces = plan::ProductWorkspaces::cublas;
  EXPECT_EQ(held(config, {}, profile, "cublas_workspace"), Sizes{64 * kMiB});
  EXPECT_EQ(held(config, {}, profile, "engine_workspace"), Sizes{0});
  // 2 x 4,096 KiB + 8 x 16 KiB = 8,320 KiB before Hopper; CUBLAS_WORKSPACE_CONFIG=:4096:8 is 32
  // MiB.
  profile.workspaces = plan::workspaces_of(8.0);
  EXPECT_EQ(held(config, {}, profile, "cublas_workspace"), Sizes{2 * 8320 * 1024});
  profile.cublas_workspace_bytes = 32 * kMiB;
  EXPECT_EQ(held(config, {}, profile, "cublas_workspace"), Sizes{64 * kMiB});
}

TEST(FrameworkBuffers, TransformerEngineHasOneOfItsOwnAndMoreForGroupedExperts) {
  const model::ModelConfig dense = model::load_model("gpt2");
  const model::ModelConfig experts = test::small_model("mixtral");
  plan::Profile profile = plan::load_profile("standard");
  profile.product_workspaces = plan::ProductWorkspaces::transformer_engine;
  profile.grouped_workspaces = 4;
  profile.workspaces = plan::workspaces_of(9.0);
  EXPECT_EQ(held(dense, {}, profile, "engine_workspace"), Sizes{32 * kMiB});
  EXPECT_EQ(held(experts, {}, profile, "engine_workspace"), Sizes{5 * 32 * kMiB});
  profile.workspaces = plan::workspaces_of(7.5);
  EXPECT_EQ(held(experts, {}, profile, "engine_workspace"), Sizes{5 * 4 * kMiB});
  profile.workspaces = plan::workspaces_of(0);  // unknown: as the newest
  EXPECT_EQ(held(dense, {}, profile, "engine_workspace"), Sizes{32 * kMiB});
}

TEST(FrameworkBuffers, ADenseMaskIsOnTheFirstAndTheLastStage) {
  const model::ModelConfig config = model::load_model("gpt2");
  plan::Profile profile = plan::load_profile("standard");
  profile.batch_mask = plan::BatchMask::dense;
  plan::Plan plan;
  EXPECT_EQ(held(config, plan, profile, "batch_mask"), Sizes{2 * 64 * 64});
  plan.cp = 2;
  EXPECT_EQ(held(config, plan, profile, "batch_mask"), Sizes{2 * 32 * 64});
  plan.cp = 1;
  plan.pp = 3;
  EXPECT_EQ(held(config, plan, profile, "batch_mask"), (Sizes{2 * 64 * 64, 0, 2 * 64 * 64}));
}

TEST(FrameworkBuffers, AScoreBufferIsAsLargeAsTheScoresOfOneLayer) {
  const model::ModelConfig config = model::load_model("gpt2");  // 12 heads
  plan::Profile profile = plan::load_profile("standard");
  profile.score_buffer = plan::ScoreBuffer::persistent;
  EXPECT_EQ(held(config, {}, profile, "score_buffer"), Sizes{0});  // flash has no scores
  profile.switches.attention = model::AttentionSaving::unfused;
  plan::Plan plan;
  EXPECT_EQ(held(config, plan, profile, "score_buffer"), Sizes{2 * 2 * 12 * 64 * 64});
  plan.tp = 2;
  EXPECT_EQ(held(config, plan, profile, "score_buffer"), Sizes{2 * 2 * 6 * 64 * 64});
}

TEST(FrameworkBuffers, BordersOfStagesStayReferenced) {
  const model::ModelConfig config = model::load_model("gpt2");  // hidden 768
  plan::Profile profile = plan::load_profile("standard");
  profile.stage_borders = plan::StageBorders::held;
  const std::int64_t border = 2 * 2 * 64 * 768;
  plan::Plan plan;
  EXPECT_EQ(held(config, plan, profile, "stage_border"), Sizes{0});
  plan.pp = 2;
  EXPECT_EQ(held(config, plan, profile, "stage_border"), (Sizes{0, border}));
  plan.vpp = 2;
  EXPECT_EQ(held(config, plan, profile, "stage_border"), (Sizes{3 * border, 3 * border}));
  plan.tp = 2;
  plan.sp = true;  // ranks exchange halves of the tokens
  EXPECT_EQ(held(config, plan, profile, "stage_border"), (Sizes{3 * border / 2, 3 * border / 2}));
}

}  // namespace
}  // namespace fourhold::predict

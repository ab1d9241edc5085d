#include "fourhold/predict/state_ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fourhold/ledger/timeline.h"
#include "fourhold/model/load_model.h"
#include "fourhold/predict/memory.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold {
namespace {

// small_model("llama"): two tables of 40 x 16, six layers of 256 + 128 + 128 + 256 (attention),
// 3 x 384 (feed-forward) and 2 x 16 (norms), a norm of 16: 13,008 parameters, each tensor a
// multiple of 4.
constexpr std::int64_t kParameters = 2 * 640 + 6 * (768 + 1152 + 32) + 16;

plan::Plan plan_of(const model::ModelConfig& config, plan::Plan plan) {
  plan.seq = 16;
  plan.layers_per_stage = plan::canonical_layout(config.layer_count(), plan.pp);
  plan.global_batch = plan.dp;
  return plan;
}

std::int64_t start_peak(const std::string& profile, const plan::Plan& plan) {
  const model::ModelConfig config = test::small_model("llama");
  return predict::start_ledger(config, plan_of(config, plan), plan::load_profile(profile), 0)
      .live_peak_bytes.count();
}
std::int64_t save_peak(const std::string& profile, const plan::Plan& plan) {
  const model::ModelConfig config = test::small_model("llama");
  return predict::save_ledger(config, plan_of(config, plan), plan::load_profile(profile), 0)
      .live_peak_bytes.count();
}

TEST(StartLedger, EndsWithTheWholeState) {
  // Weights 2, master 4, moments 8; standard's gradients, 2, last for the whole run.
  EXPECT_EQ(start_peak("fourhold", {}), 14 * kParameters);
  EXPECT_EQ(start_peak("standard", {}), 16 * kParameters);
}

TEST(StartLedger, GathersNothingOfAShardedState) {
  EXPECT_EQ(start_peak("fourhold", {.dp = 4, .zero = 3}), 14 * kParameters / 4);
  // ZeRO-1: whole weights, a quarter of master and moments.
  EXPECT_EQ(start_peak("fourhold", {.dp = 4, .zero = 1}), (2 + 12 / 4) * kParameters);
}

TEST(StartLedger, HoldsOnePieceBesideTheWeightItFills) {
  const model::ModelConfig config = test::small_model("llama");
  const ledger::Ledger ledger =
      predict::start_ledger(config, plan_of(config, {}), plan::load_profile("fourhold"), 0);
  const ledger::Timeline timeline = ledger::timeline_of(ledger.entries);
  // First the table of 640: 2 bytes, 4 of its master, 4 of the piece. The piece is gone when the
  // next weight, a norm of 16, comes with 10 bytes of its own for each value.
  EXPECT_EQ(timeline.live_at(0), Bytes(10 * 640));
  EXPECT_EQ(timeline.live_at(1), Bytes(6 * 640 + 10 * 16));
}

TEST(StartLedger, APieceOfALargeWeightIs16MiB) {
  const model::ModelConfig config = model::load_model("llama-3.1-8b");
  const ledger::Ledger ledger =
      predict::start_ledger(config, plan_of(config, {}), plan::load_profile("fourhold"), 0);
  // The table is 128,256 x 4,096.
  EXPECT_EQ(ledger::timeline_of(ledger.entries).live_at(0),
            Bytes(6LL * 128'256 * 4'096 + 16'777'216));
  EXPECT_EQ(ledger.live_peak_bytes, Bytes(14 * 8'030'261'248));
}

TEST(SaveLedger, AddsOnePieceToTheState) {
  // The largest tensor that leaves is the master of a table: 4 x 640 bytes, or a quarter.
  EXPECT_EQ(save_peak("fourhold", {}), 14 * kParameters + 2560);
  EXPECT_EQ(save_peak("standard", {}), 16 * kParameters + 2560);
  EXPECT_EQ(save_peak("fourhold", {.dp = 4, .zero = 3}), 14 * kParameters / 4 + 640);
}

TEST(SaveLedger, WritesOfAWeightThatReplicasShareTheRanksOwnSlice) {
  // Without a master and with one moment of 4 bytes per value, ZeRO-1 on 4: the largest piece is
  // the moment's slice of 160 x 4 bytes, not the whole table of 640 x 2.
  const plan::Plan plan{.dp = 4,
                        .zero = 1,
                        .precision = plan::Precision::bf16_pure,
                        .optimizer = plan::Optimizer::sgd_momentum};
  EXPECT_EQ(save_peak("fourhold", plan), (2 + 4 / 4) * kParameters + 640);
}

TEST(Startup, OfStandardAndFourholdIsWhatTheStartProgramHolds) {
  const model::ModelConfig config = model::load_model("llama-3.1-8b");
  const auto startup = [&](const std::string& profile) {
    return predict::predict_memory(config, plan_of(config, {}), plan::load_profile(profile))
        .startup_bytes.count();
  };
  EXPECT_EQ(startup("fourhold"), 14 * 8'030'261'248);
  EXPECT_EQ(startup("standard"), 16 * 8'030'261'248);
  // Each process of DeepSpeed first loads the whole model in 16 bits.
  EXPECT_EQ(startup("deepspeed"), 2 * 8'030'261'248);
}

plan::Profile random_profile() {
  plan::Profile profile = plan::load_profile(
      test::pick<std::string>({"standard", "fourhold", "megatron", "fsdp2", "deepspeed"}));
  profile.zero_stages = {0, 1, 2, 3};
  profile.splits = {"tp", "sp", "pp", "vpp", "cp", "ep", "offload"};
  profile.startup = plan::Startup::start_program;
  return profile;
}

std::int64_t device_bytes(const ledger::Ledger& ledger, ledger::Category but_of) {
  std::int64_t bytes = 0;
  for (const ledger::Entry& entry : ledger.entries) {
    const bool counts = entry.place == ledger::Place::device && entry.category != but_of;
    bytes += counts ? entry.bytes.count() : 0;
  }
  return bytes;
}

// The compact arithmetic of predict_memory against the steps of the program, on every stage; and
// what is there in the end of a start is what is there all the time of a save.
RC_GTEST_PROP(StartLedger, HasThePeakThatStartupBytesSay, ()) {
  const model::ModelConfig config = test::small_model(
      test::pick<std::string>({"llama", "gpt2", "mixtral", "gemma2", "deepseek_v2"}));
  const plan::Profile profile = random_profile();
  const std::optional<plan::Plan> plan = test::random_plan(config, profile);
  RC_PRE(plan.has_value());
  Bytes most;
  for (std::int64_t stage = 0; stage < plan->pp; ++stage) {
    const ledger::Ledger start = predict::start_ledger(config, *plan, profile, stage);
    const ledger::Ledger save = predict::save_ledger(config, *plan, profile, stage);
    most = std::max(most, start.live_peak_bytes);
    const std::int64_t state = device_bytes(start, ledger::Category::scratch);
    RC_ASSERT(start.live_peak_bytes.count() >= state);
    if (save.entries.empty()) continue;
    RC_ASSERT(device_bytes(save, ledger::Category::scratch) == state);
    RC_ASSERT(save.live_peak_bytes.count() >= state);
  }
  RC_ASSERT(predict::predict_memory(config, *plan, profile).startup_bytes == most);
}

}  // namespace
}  // namespace fourhold

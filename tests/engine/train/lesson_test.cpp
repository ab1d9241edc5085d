// What the master copy is for, shown by real runs; and what a failing loss does to the weights.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/engine/train/train_run.h"
#include "tests/engine/train/small_training.h"
#include "tests/tested_isa/tested_isa.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

constexpr const char* kConfig =
    R"({"model_type":"gpt2","vocab_size":257,"n_positions":64,"n_embd":48,"n_layer":2,"n_head":4,)"
    R"("resid_pdrop":0,"embd_pdrop":0,"attn_pdrop":0})";

TrainSetup setup_of(plan::Precision precision, double rate, std::int64_t steps) {
  TrainSetup setup = testing::training_of(kConfig, precision, steps, rate);
  plan::Plan& plan = setup.plan;
  plan.isa = std::string(plan::to_string(testing::tested_isa()));
  plan.micro_batch = 4;
  plan.global_batch = 4;
  plan.seq = 32;
  setup.options.hyperparameters.weight_decay = 0;
  return setup;
}

using testing::run;

double mean_of_last(const std::vector<double>& losses, std::size_t count) {
  double sum = 0;
  for (std::size_t i = losses.size() - count; i < losses.size(); ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

// The bf16 weights that a run of `steps` leaves, one tensor after the other in the order of the
// file.
std::vector<float> weights_after(TrainSetup setup, std::int64_t steps) {
  const model::TestFolder folder;
  setup.steps = steps;
  setup.checkpoints.folder = folder.path();
  static_cast<void>(run(setup));
  const WeightFiles files(folder.path() + "/" + step_name(steps));
  std::vector<float> weights;
  for (const StoredBytes& stored : files.tensors()) {
    for (std::size_t at = 0; at + 1 < stored.bytes.size(); at += 2) {
      std::uint16_t half = 0;
      std::memcpy(&half, stored.bytes.data() + at, sizeof half);
      weights.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16));
    }
  }
  return weights;
}

// Of the weights of at least `least`: the share that has the same bits after the last step as after
// the first.
double unchanged_share(const TrainSetup& setup, float least) {
  const std::vector<float> first = weights_after(setup, 1);
  const std::vector<float> last = weights_after(setup, setup.steps);
  EXPECT_EQ(first.size(), last.size());
  std::int64_t counted = 0;
  std::int64_t unchanged = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (std::abs(first[i]) < least) continue;
    ++counted;
    if (std::bit_cast<std::uint32_t>(first[i]) == std::bit_cast<std::uint32_t>(last[i])) {
      ++unchanged;
    }
  }
  EXPECT_GT(counted, 10'000);
  return static_cast<double>(unchanged) / static_cast<double>(counted);
}

// Weights are near 0.02, where bf16 values lie 2^-13 = 1.2e-4 apart (1.5e-5 below 2^-9): an update
// of 3e-6 is less than half of that for all but the smallest. A master copy adds them up.
TEST(Lesson, PureBf16StallsWhereAMasterCopyLearns) {
  constexpr double kRate = 3e-6;
  constexpr std::int64_t kSteps = 150;
  const TrainResult master = run(setup_of(plan::Precision::bf16, kRate, kSteps));
  const TrainResult pure = run(setup_of(plan::Precision::bf16_pure, kRate, kSteps));
  EXPECT_LT(master.stall.share(), 0.01);
  EXPECT_GT(pure.stall.share(), 0.8);
  const double learned = master.losses.front() - mean_of_last(master.losses, 20);
  const double stalled = pure.losses.front() - mean_of_last(pure.losses, 20);
  EXPECT_GT(learned, 0.02);
  EXPECT_LT(stalled, 0.5 * learned);

  // From 2^-9 on bf16 values are 2^-16 apart or more, so that an update below half of that, 7.6e-6,
  // changes no bit, however often it comes; Adam's are the rate times 2.3 at most: (1 - beta1) /
  // sqrt(1 - beta2) for a gradient that comes once, and 1 for one that stays. The master adds them
  // up: 149 of one sign would be 4.5e-4, which is several steps of bf16.
  constexpr float kTooLargeToMove = 1.0F / 512;
  EXPECT_EQ(unchanged_share(setup_of(plan::Precision::bf16_pure, kRate, kSteps), kTooLargeToMove),
            1);
  EXPECT_LT(unchanged_share(setup_of(plan::Precision::bf16, kRate, kSteps), kTooLargeToMove), 0.7);

  // Rounding at random, and carrying what was lost, repair it without a master copy.
  for (const auto repaired : {plan::Precision::bf16_sr, plan::Precision::bf16_kahan}) {
    const TrainResult result = run(setup_of(repaired, kRate, kSteps));
    EXPECT_GT(result.losses.front() - mean_of_last(result.losses, 20), 0.8 * learned);
  }
}

TEST(Lesson, SplitHoldsTheMastersNumbersInFewerBytes) {
  const TrainResult whole = run(setup_of(plan::Precision::bf16, 1e-3, 20));
  const TrainResult split = run(setup_of(plan::Precision::bf16_split, 1e-3, 20));
  EXPECT_EQ(whole.losses, split.losses);
  const auto master = static_cast<std::size_t>(ledger::Category::master_weight);
  EXPECT_EQ(whole.measured.at_peak_by_category()[master].count(),
            2 * split.measured.at_peak_by_category()[master].count());
}

TEST(Lesson, ASmallerMicroBatchAndRecomputationHoldLessAndLearnTheSame) {
  const auto with = [](std::int64_t micro_batch, const char* recompute) {
    TrainSetup setup = setup_of(plan::Precision::fp32, 1e-3, 5);
    setup.plan.global_batch = 8;
    setup.plan.micro_batch = micro_batch;
    setup.plan.grad_accum = 8 / micro_batch;
    setup.plan.recompute = plan::recompute_from_string(recompute);
    return run(setup);
  };
  const TrainResult whole = with(8, "none");
  const TrainResult smaller = with(2, "none");
  const TrainResult recomputed = with(8, "full");
  EXPECT_LT(smaller.measured.live_peak_bytes.count(), whole.measured.live_peak_bytes.count());
  EXPECT_LT(recomputed.measured.live_peak_bytes.count(), whole.measured.live_peak_bytes.count());
  EXPECT_EQ(recomputed.losses, whole.losses);  // bit for bit
  for (std::size_t i = 0; i < whole.losses.size(); ++i) {
    EXPECT_NEAR(smaller.losses[i], whole.losses[i], 1e-4 * whole.losses[i]);
  }
}

TEST(Lesson, ARunThatDivergesStopsAndNamesTheStep) {
  TrainSetup setup = setup_of(plan::Precision::bf16, 1e30, 20);
  setup.options.clip_norm = 0;
  try {
    static_cast<void>(run(setup));
    ADD_FAILURE() << "nothing stopped it";
  } catch (const Error& error) {
    EXPECT_EQ(error.where().rfind("step ", 0), 0U) << error.where();
    EXPECT_NE(error.hint().find("nothing of this step was written"), std::string::npos);
  }
}

}  // namespace
}  // namespace fourhold::engine

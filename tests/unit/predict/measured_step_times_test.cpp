// Predicted against measured step times of published runs, with no constant fitted per row.
//
// The matmul shares of A100 and H100, and the start of InfiniBand collectives, were chosen with
// these sources in view (data/hardware/SOURCES.md): the figures guard that fit, they do not say how
// well runs of other software are predicted.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "fourhold/predict/time.h"
#include "measured_rows.h"

namespace fourhold::predict {
namespace {

using test::Row;

struct Figures {
  std::vector<double> errors;          // predicted / measured - 1
  std::map<std::string, int> skipped;  // by reason
  [[nodiscard]] double mean_absolute() const {
    double sum = 0;
    for (const double error : errors) sum += std::abs(error);
    return sum / static_cast<double>(errors.size());
  }
  [[nodiscard]] double bias() const {
    double sum = 0;
    for (const double error : errors) sum += error;
    return sum / static_cast<double>(errors.size());
  }
  [[nodiscard]] double quantile(double share) const {
    std::vector<double> sorted;
    for (const double error : errors) sorted.push_back(std::abs(error));
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

// How the runs of a file were made.
struct Stack {
  std::string profile;
  double dropout = 0;
};

// What of a row cannot be predicted, or "".
std::string reason_to_skip(const Row& row, const plan::Profile& profile) {
  const std::string missing = test::missing_fact(row);
  if (!missing.empty()) return missing;
  const std::vector<int>& stages = profile.zero_stages;
  const bool has = std::find(stages.begin(), stages.end(), test::zero_stage(row)) != stages.end();
  return has ? "" : "the profile has no " + row.at("sharding");
}

double predicted_seconds(const Row& row, const Stack& stack) {
  const plan::Profile profile = plan::load_profile(stack.profile);
  const model::ModelConfig config = test::gpt_of(row, stack.dropout);
  const plan::Plan plan = plan::complete(test::request_of(row), config, profile);
  // "A100", where the variant is not published, is the 80 GB one.
  const hardware::Cluster cluster =
      hardware::uniform_cluster(hardware::load_device(row.at("gpu")).device, plan.devices());
  return predict_time(config, plan, profile, cluster).step_seconds;
}

Figures replay_file(const std::string& name, const Stack& stack) {
  Figures figures;
  const std::string path =
      std::string(FOURHOLD_SOURCE_DIR) + "/tests/unit/predict/measured/" + name;
  for (const Row& row : test::read_rows(path)) {
    const std::string reason = reason_to_skip(row, plan::load_profile(stack.profile));
    if (!reason.empty()) {
      ++figures.skipped[reason];
      continue;
    }
    figures.errors.push_back(predicted_seconds(row, stack) / test::number(row, "step_time_s") - 1);
  }
  std::string skipped;
  for (const auto& [reason, count] : figures.skipped) {
    skipped += fmt::format("; {} skipped: {}", count, reason);
  }
  fmt::print(
      "{}: {} rows, mean absolute error {:.1f}%, median {:.1f}%, 90th {:.1f}%, bias {:+.1f}%{}\n",
      name, figures.errors.size(), 100 * figures.mean_absolute(), 100 * figures.quantile(0.5),
      100 * figures.quantile(0.9), 100 * figures.bias(), skipped);
  return figures;
}

// Megatron's default dropout.
const Stack kMegatron2021{"megatron-2021", 0.1};

TEST(MeasuredStepTimes, OfVtrainOnManyNodesAreWithinFifteenPercent) {
  const Figures figures = replay_file("vtrain_multi.csv", kMegatron2021);
  EXPECT_EQ(figures.errors.size(), 51U);
  EXPECT_LT(figures.mean_absolute(), 0.15);
}

TEST(MeasuredStepTimes, OfVtrainInOneNodeAreWithinFifteenPercent) {
  const Figures figures = replay_file("vtrain_single.csv", kMegatron2021);
  EXPECT_EQ(figures.errors.size(), 90U);
  EXPECT_LT(figures.mean_absolute(), 0.15);
}

TEST(MeasuredStepTimes, OfThePapersThatStateTheirSplitAreWithinFifteenPercent) {
  const Figures figures = replay_file("papers.csv", kMegatron2021);
  EXPECT_EQ(figures.errors.size(), 2U);  // the others leave out the micro-batch or the heads
  EXPECT_LT(figures.mean_absolute(), 0.15);
}

TEST(MeasuredStepTimes, OfLlmFoundryAreWithinFifteenPercent) {
  const Figures figures = replay_file("llm_foundry.csv", {"llm-foundry", 0});
  EXPECT_EQ(figures.errors.size(), 20U);
  EXPECT_LT(figures.mean_absolute(), 0.15);
}

}  // namespace
}  // namespace fourhold::predict

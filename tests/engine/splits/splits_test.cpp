// Every split trains what one rank trains: the same loss each step, the same weights in the end,
// holding the bytes and sending the bytes that were predicted for each rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fourhold/engine/data/builtin_text.h"
#include "tests/engine/splits/split_run.h"

namespace fourhold::engine::testing {
namespace {

using plan::Plan;
using plan::ScheduleKind;

// Loss of a step, relative: sums in another order.
constexpr double kLossTolerance = 1e-5;
constexpr double kLossTolerance16 = 5e-3;

struct Split {
  std::string name;
  Plan plan;
};

std::vector<Split> data_splits() {
  return {{"dp_2", {.dp = 2, .grad_accum = 2}},
          {"dp_3", {.dp = 3, .grad_accum = 2}},
          {"dp_4", {.dp = 4, .grad_accum = 2}},
          {"zero_1", {.dp = 4, .zero = 1, .grad_accum = 2}},
          {"zero_1_dp_3", {.dp = 3, .zero = 1, .grad_accum = 1}},
          {"zero_2", {.dp = 4, .zero = 2, .grad_accum = 2}},
          {"zero_3", {.dp = 4, .zero = 3, .grad_accum = 2}},
          {"zero_3_dp_3_five_micro_batches", {.dp = 3, .zero = 3, .grad_accum = 5}},
          {"zero_2_dp_8", {.dp = 8, .zero = 2}}};
}

std::vector<Split> tensor_splits() {
  return {{"tp_2", {.tp = 2, .grad_accum = 2}},
          {"tp_4", {.tp = 4}},
          {"tp_2_sp", {.tp = 2, .sp = true, .grad_accum = 2}},
          {"tp_4_sp", {.tp = 4, .sp = true}},
          {"tp_2_dp_2", {.tp = 2, .dp = 2, .grad_accum = 2}},
          {"tp_2_chunked_loss", {.tp = 2, .loss_chunk = 5}}};
}

std::vector<Split> pipeline_splits() {
  constexpr ScheduleKind kGpipe = ScheduleKind::gpipe;
  return {{"pp_2", {.pp = 2, .grad_accum = 4}},
          {"pp_4", {.pp = 4, .grad_accum = 6}},
          {"pp_2_gpipe", {.pp = 2, .grad_accum = 4, .schedule = kGpipe}},
          {"pp_2_interleaved", {.pp = 2, .vpp = 2, .grad_accum = 4}},
          {"pp_2_uneven", {.pp = 2, .grad_accum = 3, .layers_per_stage = {3, 1}}},
          {"pp_2_one_micro_batch", {.pp = 2}},
          {"pp_2_chunked_loss", {.pp = 2, .grad_accum = 3, .loss_chunk = 7}}};
}

std::vector<Split> combined_splits() {
  constexpr ScheduleKind kGpipe = ScheduleKind::gpipe;
  const plan::RecomputePolicy first_layer = plan::recompute_from_string("full:1");
  const plan::RecomputePolicy full = plan::recompute_from_string("full");
  return {
      {"zero_1_tp_pp", {.tp = 2, .pp = 2, .dp = 2, .zero = 1, .grad_accum = 2}},
      {"zero_1_tp_sp_pp", {.tp = 2, .sp = true, .pp = 2, .dp = 2, .zero = 1, .grad_accum = 2}},
      {"zero_1_interleaved", {.pp = 2, .vpp = 2, .dp = 2, .zero = 1, .grad_accum = 4}},
      {"zero_2_pp", {.pp = 2, .dp = 2, .zero = 2, .grad_accum = 3}},
      {"zero_2_gpipe_chunked_loss",
       {.pp = 2, .dp = 2, .zero = 2, .grad_accum = 3, .schedule = kGpipe, .loss_chunk = 5}},
      {"zero_3_pp", {.pp = 2, .dp = 2, .zero = 3, .grad_accum = 3}},
      {"zero_3_interleaved", {.pp = 2, .vpp = 2, .dp = 2, .zero = 3, .grad_accum = 4}},
      {"zero_3_tp", {.tp = 2, .dp = 2, .zero = 3, .grad_accum = 2}},
      {"zero_3_tp_4_sp", {.tp = 4, .sp = true, .dp = 2, .zero = 3}},
      {"zero_2_tp_sp", {.tp = 2, .sp = true, .dp = 2, .zero = 2, .grad_accum = 2}},
      {"uneven_zero_1",
       {.pp = 2, .dp = 2, .zero = 1, .grad_accum = 2, .layers_per_stage = {1, 3}}},
      {"first_layer_recomputed_zero_3",
       {.dp = 2, .zero = 3, .grad_accum = 2, .recompute = first_layer}},
      {"recomputed_pp_tp", {.tp = 2, .pp = 2, .grad_accum = 3, .recompute = full}},
      {"zero_3_chunked_loss", {.dp = 2, .zero = 3, .grad_accum = 3, .loss_chunk = 6}}};
}

std::vector<Split> all_splits() {
  std::vector<Split> all = data_splits();
  for (const auto& more : {tensor_splits(), pipeline_splits(), combined_splits()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

const data::Dataset& text_of(std::int64_t vocabulary, std::int64_t seq) {
  static std::map<std::int64_t, std::pair<data::TokenSource, std::unique_ptr<data::Dataset>>> made;
  auto found = made.find(vocabulary);
  if (found == made.end()) {
    found = made.emplace(vocabulary, std::pair{data::builtin_tokens(vocabulary), nullptr}).first;
    found->second.second = std::make_unique<data::Dataset>(
        found->second.first, data::DatasetOptions{.length = seq, .seed = 5, .held_out_share = 0});
  }
  return *found->second.second;
}

void expect_same_losses(const SplitOutcome& found, const SplitOutcome& expected, double tolerance) {
  ASSERT_EQ(found.losses.size(), expected.losses.size());
  for (std::size_t i = 0; i < found.losses.size(); ++i) {
    EXPECT_NEAR(found.losses[i], expected.losses[i], tolerance * expected.losses[i])
        << "at step " << i + 1;
  }
}

void expect_no_faults(const SplitOutcome& outcome) {
  for (std::size_t i = 0; i < std::min<std::size_t>(outcome.faults.size(), 12); ++i) {
    ADD_FAILURE() << outcome.faults[i];
  }
}

class Splits : public ::testing::TestWithParam<std::tuple<SmallModel, Split>> {};

TEST_P(Splits, TrainWhatOneRankTrains) {
  const auto& [model, split] = GetParam();
  const SplitSetup setup = split_setup(model, split.plan);
  const SplitSetup single = on_one_rank(setup);
  const data::Dataset& text = text_of(setup.config.vocab, setup.plan.seq);
  const SplitOutcome expected = train_split(single, text);
  expect_no_faults(expected);
  const SplitOutcome found = train_split(setup, text);
  expect_no_faults(found);
  expect_same_losses(found, expected, kLossTolerance);
  EXPECT_LT(found.losses.back(), found.losses.front()) << "it learns";
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<SmallModel, Split>>& info) {
  constexpr std::array<const char*, 3> kNames{"gpt2", "llama", "qwen3"};
  return std::string(kNames[static_cast<std::size_t>(std::get<0>(info.param))]) + "_" +
         std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(All, Splits,
                         ::testing::Combine(::testing::Values(SmallModel::gpt2, SmallModel::llama),
                                            ::testing::ValuesIn(all_splits())),
                         name_of);

}  // namespace

void PrintTo(const std::tuple<SmallModel, Split>& split, std::ostream* out) {
  *out << std::get<1>(split).name;
}

}  // namespace fourhold::engine::testing

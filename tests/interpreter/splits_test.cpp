// Every split computes what one rank computes: the same loss, gradients, norm and updated weights.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/plan/lora_targets.h"
#include "tests/interpreter/fault.h"
#include "tests/interpreter/models.h"
#include "tests/interpreter/plans.h"
#include "tests/interpreter/simulation.h"

namespace fourhold::interpreter {
namespace {

using model::ModelConfig;
using plan::Offload;
using plan::Plan;
using plan::ScheduleKind;

// Sums in another order: a few hundred roundings of 1e-16, amplified by the norms on the way.
constexpr double kTolerance = 1e-10;

struct Split {
  std::string name;
  Plan plan;
};

// What one rank computes for the same batch, under the same choices that are no split.
Plan single_rank(const NamedModel& model, const Plan& plan) {
  Plan single;
  single.global_batch = plan.global_batch;
  single.loss_chunk = plan.loss_chunk;
  single.tuning = plan.tuning;
  single.lora_rank = plan.lora_rank;
  single.lora_targets = plan.lora_targets;
  single.lora_dropout = plan.lora_dropout;
  single.modules_to_save = plan.modules_to_save;
  return finished(single, model.config);
}

void compare(const NamedModel& model, const Plan& plan, const plan::Profile& profile,
             const ParameterValues& values, const Outcome& expected) {
  try {
    const Outcome found = Simulation(model.config, plan, profile).train_step(values);
    EXPECT_NEAR(found.loss, expected.loss, kTolerance * expected.loss);
    EXPECT_NEAR(found.norm, expected.norm, kTolerance * expected.norm);
    const Difference gradients = difference(expected.gradients, found.gradients);
    EXPECT_LT(gradients.relative, kTolerance) << "gradient of " << gradients.where;
    const Difference weights = difference(expected.weights, found.weights);
    EXPECT_LT(weights.relative, kTolerance) << "updated weight of " << weights.where;
  } catch (const ProgramFault& fault) {
    ADD_FAILURE() << fault.what();
  } catch (const Error& error) {
    ADD_FAILURE() << error.where() << ": " << error.what() << " (" << error.hint() << ")";
  }
}

// All splits of one list have the same batch, chunk and tuning: one run serves as the measure of
// all.
void expect_same_as_one_rank(const NamedModel& model, const std::vector<Split>& splits,
                             const plan::Profile& profile) {
  const Plan single = single_rank(model, finished(splits.front().plan, model.config));
  const ParameterValues values = make_parameters(model.config, plan::switches_of(single, profile));
  const Outcome expected = Simulation(model.config, single, profile).train_step(values);
  for (const Split& split : splits) {
    SCOPED_TRACE(model.name + ", " + split.name);
    const Plan plan = finished(split.plan, model.config);
    ASSERT_EQ(plan.global_batch, single.global_batch);
    ASSERT_EQ(plan.loss_chunk, single.loss_chunk);
    ASSERT_EQ(plan.tuning, single.tuning);
    compare(model, plan, profile, values, expected);
  }
}

void expect_same_as_one_rank(const std::vector<NamedModel>& models,
                             const std::vector<Split>& splits) {
  for (const NamedModel& model : models) expect_same_as_one_rank(model, splits, any_profile());
}

std::vector<NamedModel> with_experts() {
  return {{"mixtral", tiny_mixtral(4)},
          {"qwen2_moe", tiny_qwen2_moe(4)},
          {"gpt_oss", tiny_gpt_oss(4)},
          {"deepseek", tiny_deepseek(4, 5)}};
}

// The two every combination is tried on: biases, dropout, learned positions and a tied table; and
// grouped heads, rotation and a head of its own.
std::vector<NamedModel> two_models() {
  return {{"gpt2", with_dropout(tiny_gpt2(4))}, {"llama", tiny_llama(4)}};
}

std::vector<Split> data_splits() {
  return {{"dp 2", {.dp = 2}},
          {"dp 4", {.dp = 4}},
          {"accumulation", {.grad_accum = 4}},
          {"dp 2, accumulation", {.dp = 2, .grad_accum = 2}}};
}

std::vector<Split> zero_splits() {
  std::vector<Split> splits;
  for (const int zero : {1, 2, 3}) {
    const std::string name = "zero " + std::to_string(zero);
    splits.push_back({name + ", one rank", {.zero = zero}});
    splits.push_back({name + ", dp 4", {.dp = 4, .zero = zero}});
    splits.push_back({name + ", dp 2, accumulation", {.dp = 2, .zero = zero, .grad_accum = 2}});
  }
  return splits;
}

std::vector<Split> tensor_splits() {
  return {{"tp 2", {.tp = 2}},
          {"tp 4", {.tp = 4}},
          {"tp 2 with sp", {.tp = 2, .sp = true}},
          {"tp 4 with sp", {.tp = 4, .sp = true}},
          {"tp 2 with sp, dp 2, accumulation", {.tp = 2, .sp = true, .dp = 2, .grad_accum = 2}}};
}

std::vector<Split> context_splits() {
  return {{"cp 2", {.cp = 2}},
          {"cp 4", {.cp = 4}},
          {"cp 2, dp 2", {.cp = 2, .dp = 2}},
          {"cp 2, tp 2", {.tp = 2, .cp = 2}},
          {"cp 2, tp 4 with sp", {.tp = 4, .sp = true, .cp = 2}}};
}

std::vector<Split> pipeline_splits() {
  constexpr ScheduleKind kGpipe = ScheduleKind::gpipe;
  return {{"pp 2, gpipe", {.pp = 2, .grad_accum = 4, .schedule = kGpipe}},
          {"pp 2, 1f1b", {.pp = 2, .grad_accum = 4}},
          {"pp 2, one micro-batch", {.pp = 2}},
          {"pp 4, 1f1b", {.pp = 4, .grad_accum = 4}},
          {"pp 2, interleaved", {.pp = 2, .vpp = 2, .grad_accum = 4}},
          {"pp 2 uneven", {.pp = 2, .grad_accum = 2, .layers_per_stage = {3, 1}}},
          {"pp 2, tp 2 with sp", {.tp = 2, .sp = true, .pp = 2, .grad_accum = 2}},
          {"pp 2, dp 2", {.pp = 2, .dp = 2, .grad_accum = 2}}};
}

std::vector<Split> expert_splits() {
  return {{"ep 2", {.ep = 2, .dp = 2}},
          {"ep 4", {.ep = 4, .dp = 4}},
          {"ep 2 in dp 4", {.ep = 2, .dp = 4}},
          {"ep 2 over cp", {.cp = 2, .ep = 2}},
          {"ep 4 over cp and dp", {.cp = 2, .ep = 4, .dp = 2}},
          {"ep 2, tp 2", {.tp = 2, .ep = 2, .dp = 2}},
          {"ep 2, tp 2 with sp", {.tp = 2, .sp = true, .ep = 2, .dp = 2}},
          {"ep 2, tp 2 with sp, accumulation",
           {.tp = 2, .sp = true, .ep = 2, .dp = 2, .grad_accum = 2}},
          {"ep 2, dp 4, zero 1", {.ep = 2, .dp = 4, .zero = 1}},
          {"ep 2, dp 4, zero 2", {.ep = 2, .dp = 4, .zero = 2}},
          {"ep 2, dp 4, zero 3", {.ep = 2, .dp = 4, .zero = 3}},
          {"ep 2, dp 2, pp 2, zero 1", {.pp = 2, .ep = 2, .dp = 2, .zero = 1, .grad_accum = 2}}};
}

std::vector<Split> offload_splits() {
  std::vector<Split> splits;
  for (const Offload offload : {Offload::optimizer, Offload::optimizer_gradients, Offload::all}) {
    for (const int zero : {0, 1, 2, 3}) {
      const std::string name = "offload " +
                               std::string(plan::kOffloadNames[static_cast<std::size_t>(offload)]) +
                               ", zero " + std::to_string(zero);
      splits.push_back({name, {.dp = 2, .zero = zero, .grad_accum = 2, .offload = offload}});
      splits.push_back(
          {name + ", pp 2", {.pp = 2, .dp = 2, .zero = zero, .grad_accum = 2, .offload = offload}});
    }
  }
  return splits;
}

std::vector<Split> combined_splits() {
  constexpr ScheduleKind kGpipe = ScheduleKind::gpipe;
  return {{"zero 1, tp, pp", {.tp = 2, .pp = 2, .dp = 2, .zero = 1, .grad_accum = 2}},
          {"zero 1, tp with sp, pp",
           {.tp = 2, .sp = true, .pp = 2, .dp = 2, .zero = 1, .grad_accum = 2}},
          {"zero 1, interleaved", {.pp = 2, .vpp = 2, .dp = 2, .zero = 1, .grad_accum = 2}},
          {"zero 2, pp", {.pp = 2, .dp = 2, .zero = 2, .grad_accum = 2}},
          {"zero 2, gpipe", {.pp = 2, .dp = 2, .zero = 2, .grad_accum = 2, .schedule = kGpipe}},
          {"zero 3, pp", {.pp = 2, .dp = 2, .zero = 3, .grad_accum = 2}},
          {"zero 3, gpipe", {.pp = 2, .dp = 2, .zero = 3, .grad_accum = 2, .schedule = kGpipe}},
          {"zero 3, interleaved", {.pp = 2, .vpp = 2, .dp = 2, .zero = 3, .grad_accum = 2}},
          {"zero 3, tp", {.tp = 2, .dp = 2, .zero = 3}},
          {"zero 3, tp 4 with sp", {.tp = 4, .sp = true, .dp = 2, .zero = 3}},
          {"zero 2, tp with sp", {.tp = 2, .sp = true, .dp = 2, .zero = 2, .grad_accum = 2}},
          {"cp, zero 1", {.cp = 2, .dp = 2, .zero = 1}},
          {"cp, zero 3", {.cp = 2, .dp = 2, .zero = 3}},
          {"cp, zero 3, tp with sp", {.tp = 2, .sp = true, .cp = 2, .dp = 2, .zero = 3}},
          {"pp, cp, tp with sp", {.tp = 2, .sp = true, .pp = 2, .cp = 2, .grad_accum = 4}},
          {"uneven, zero 1",
           {.pp = 2, .dp = 2, .zero = 1, .grad_accum = 2, .layers_per_stage = {1, 3}}}};
}

TEST(Splits, DataParallelAndAccumulationEqualOneRank) {
  expect_same_as_one_rank(all_models(4), data_splits());
}

TEST(Splits, ZeroOfEveryStageEqualsOneRank) {
  expect_same_as_one_rank(all_models(4), zero_splits());
}

TEST(Splits, TensorAndSequenceParallelEqualOneRank) {
  expect_same_as_one_rank(all_models(4), tensor_splits());
}

TEST(Splits, PipelinesEqualOneRank) {
  std::vector<NamedModel> models = all_models(4);
  models.pop_back();  // nemotron has six layers: the layouts above are for four
  expect_same_as_one_rank(models, pipeline_splits());
  expect_same_as_one_rank({{"nemotron", tiny_nemotron()}}, {{"pp 2", {.pp = 2, .grad_accum = 2}},
                                                            {"pp 4", {.pp = 4, .grad_accum = 2}}});
  expect_same_as_one_rank(
      {{"nemotron", tiny_nemotron()}},
      {{"pp 3, interleaved", {.pp = 3, .vpp = 2, .grad_accum = 3, .global_batch = 6}}});
}

TEST(Splits, ContextParallelEqualsOneRank) {
  expect_same_as_one_rank(all_models(4), context_splits());
}

TEST(Splits, ExpertParallelEqualsOneRank) {
  expect_same_as_one_rank(with_experts(), expert_splits());
}

TEST(Splits, OffloadOfEveryKindEqualsOneRank) {
  expect_same_as_one_rank(two_models(), offload_splits());
}

TEST(Splits, UnevenInterleavedPipelinesEqualOneRank) {
  const NamedModel model{"gpt2", with_dropout(tiny_gpt2(6))};
  for (const int zero : {0, 1, 3}) {
    const Plan plan{.pp = 2, .vpp = 2, .dp = 2, .zero = zero, .grad_accum = 2};
    Plan uneven = plan;
    uneven.layers_per_stage = {1, 2, 1, 2};
    expect_same_as_one_rank({model}, {{"canonical", plan}, {"1, 2, 1, 2", uneven}});
  }
}

// FSDP2 keeps fp32 weights only: each block is cast, and so gathered, whatever the stage.
TEST(Splits, WithGatheredCastsEqualOneRank) {
  plan::Profile profile = any_profile();
  profile.weight_storage = plan::WeightStorage::fp32_only;
  for (const NamedModel& model : two_models()) {
    expect_same_as_one_rank(model, zero_splits(), profile);
    expect_same_as_one_rank(model, combined_splits(), profile);
  }
}

TEST(Splits, WithAVocabularyPaddedFurtherEqualOneRank) {
  plan::Profile profile = any_profile();
  profile.vocabulary_multiple = 3;
  for (const bool times_tp : {false, true}) {
    profile.vocabulary_multiple_times_tp = times_tp;  // 11 rows: 12 or 12 to 36 of them
    for (const NamedModel& model : two_models()) {
      expect_same_as_one_rank(model, {{"tp 2", {.tp = 2}}, {"tp 4 with sp", {.tp = 4, .sp = true}}},
                              profile);
      expect_same_as_one_rank(model, {{"tp 4, chunked", {.tp = 4, .loss_chunk = 3}}}, profile);
    }
  }
}

TEST(Splits, CombinationsEqualOneRank) {
  std::vector<NamedModel> models = two_models();
  models.push_back({"deepseek", tiny_deepseek(4, 5)});
  models.push_back({"olmo2", tiny_olmo2(4)});
  expect_same_as_one_rank(models, combined_splits());
}

std::vector<Split> all_splits() {
  std::vector<Split> splits;
  for (const std::vector<Split>& list :
       {data_splits(), zero_splits(), tensor_splits(), context_splits(), pipeline_splits(),
        offload_splits(), combined_splits()}) {
    splits.insert(splits.end(), list.begin(), list.end());
  }
  return splits;
}

TEST(Splits, EvaluateToTheLossOfOneRank) {
  const plan::Profile profile = any_profile();
  std::vector<Split> splits = all_splits();
  for (const NamedModel& model : two_models()) {
    const ParameterValues values =
        make_parameters(model.config, plan::switches_of(one_rank(model.config), profile));
    const double expected =
        Simulation(model.config, one_rank(model.config), profile).evaluate(values);
    for (const Split& split : splits) {
      SCOPED_TRACE(model.name + ", " + split.name);
      const Plan plan = finished(split.plan, model.config);
      EXPECT_NEAR(Simulation(model.config, plan, profile).evaluate(values), expected,
                  kTolerance * expected);
    }
  }
}

void expect_same_with_policies(const std::vector<NamedModel>& models, std::vector<Split> splits,
                               const std::vector<std::string>& policies) {
  for (const std::string& policy : policies) {
    for (Split& split : splits) split.plan.recompute = plan::recompute_from_string(policy);
    SCOPED_TRACE("recompute " + policy);
    expect_same_as_one_rank(models, splits);
  }
}

TEST(Splits, RecomputingAnythingEqualOneRank) {
  expect_same_with_policies(two_models(), all_splits(),
                            {"selective:attention,norm,activation", "full", "full:1"});
  expect_same_with_policies({{"olmo2", tiny_olmo2(4)}, {"deepseek", tiny_deepseek(4, 5)}},
                            tensor_splits(), {"selective", "selective:norm", "full"});
  expect_same_with_policies(with_experts(), expert_splits(),
                            {"selective:experts", "selective:norm,activation,experts", "full"});
}

TEST(Splits, WithAChunkedLossEqualOneRank) {
  std::vector<Split> splits = all_splits();
  for (Split& split : splits) split.plan.loss_chunk = 3;
  expect_same_as_one_rank(two_models(), splits);
}

TEST(Splits, OfAdaptersEqualOneRank) {
  std::vector<Split> splits = all_splits();
  for (Split& split : splits) {
    split.plan.tuning = plan::Tuning::lora;
    split.plan.lora_rank = 2;
  }
  expect_same_as_one_rank(two_models(), splits);
  expect_same_as_one_rank({{"deepseek", tiny_deepseek(4, 5)}}, tensor_splits());
}

TEST(Splits, OfAdaptersFedInAnyWayEqualOneRank) {
  std::vector<Split> splits = tensor_splits();
  for (Split& split : splits) {
    split.plan.tuning = plan::Tuning::lora;
    split.plan.lora_rank = 2;
    split.plan.lora_targets = plan::lora_targets_from_string("attention-qv");
    split.plan.lora_dropout = 0.1;
    split.plan.modules_to_save = model::TrainedModules::embedding_head;
  }
  for (const plan::Profile& profile : adapter_profiles()) {
    for (const NamedModel& model : two_models()) expect_same_as_one_rank(model, splits, profile);
  }
}

TEST(Splits, UnderEverySwitchEqualOneRank) {
  std::vector<std::pair<std::string, plan::Profile>> profiles;
  const auto profile = [&](const std::string& name) -> model::Switches& {
    profiles.emplace_back(name, any_profile());
    return profiles.back().second.switches;
  };
  profile("unfused attention").attention = model::AttentionSaving::unfused;
  profile("unfused attention in fp32").attention = model::AttentionSaving::unfused_wide;
  profile("flash attention into another layout").attention = model::AttentionSaving::flash_merged;
  profile("keys and values copied out of one product").fused_qkv = model::FusedQkv::query;
  profile("norms that keep wide copies").norm = model::NormSaving::wide;
  profile("unfused activation").activation = model::ActivationSaving::unfused;
  profile("loss in place").loss = model::LossSaving::in_place;
  profile("vocab-parallel loss").loss = model::LossSaving::vocab_parallel;
  profile("eager loss").loss = model::LossSaving::eager_held;
  model::Switches& experts = profile("experts scaled inside");
  experts.expert_scaling = model::ExpertScaling::inside_activation;
  experts.keep_permuted_rows = false;
  for (const auto& [name, switched] : profiles) {
    SCOPED_TRACE(name);
    for (const NamedModel& model :
         {NamedModel{"gpt2", with_dropout(tiny_gpt2(4))}, NamedModel{"gemma2", tiny_gemma2(4)},
          NamedModel{"olmo2", tiny_olmo2(4)}, NamedModel{"gpt_oss", tiny_gpt_oss(4)}}) {
      expect_same_as_one_rank(model, tensor_splits(), switched);
    }
    std::vector<Split> splits = expert_splits();
    if (!model::is_fused(switched.switches.attention)) {
      // Refused: see the test of plan/sharding.
      std::erase_if(splits, [](const Split& split) { return split.plan.cp > 1; });
    }
    expect_same_as_one_rank({"gpt_oss", tiny_gpt_oss(4)}, splits, switched);
  }
}

}  // namespace
}  // namespace fourhold::interpreter

#include "fourhold/plan/plan_request.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/json.h"
#include "small_models.h"

namespace fourhold::plan {
namespace {

Profile everything() {
  Profile profile;
  profile.name = "standard";
  profile.zero_stages = {0, 1, 2, 3};
  profile.splits.assign(kSplitNames.begin(), kSplitNames.end());
  return profile;
}

Plan completed(const PlanRequest& request) {
  return complete(request, dense_model({}), everything());
}
Fault refusal(const PlanRequest& request) {
  return fault_of([&] { (void)completed(request); });
}

TEST(PlanRequest, ASequenceIsEnoughForOneDevice) {
  const Plan plan = completed({.seq = 128});
  Plan expected;
  expected.seq = 128;
  expected.layers_per_stage = {8};
  EXPECT_EQ(plan, expected);
}

TEST(PlanRequest, DevicesThatAreLeftBecomeReplicas) {
  const Plan plan = completed({.tp = 4, .pp = 2, .seq = 128, .count = 64});
  EXPECT_EQ(plan.dp, 8);  // 64 / (4 x 2)
  EXPECT_EQ(plan.devices(), 64);
  EXPECT_TRUE(plan.sp);
  EXPECT_EQ(plan.layers_per_stage, (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(plan.global_batch, 8);  // 1 x 1 x dp
}

TEST(PlanRequest, SequenceParallelismFollowsTensorParallelismUnlessSaid) {
  EXPECT_FALSE(completed({.seq = 128}).sp);
  EXPECT_TRUE(completed({.tp = 2, .seq = 128}).sp);
  EXPECT_FALSE(completed({.tp = 2, .sp = false, .seq = 128}).sp);
  Profile without = everything();
  without.splits = {"tp"};
  EXPECT_FALSE(complete({.tp = 2, .seq = 128}, dense_model({}), without).sp);
}

TEST(PlanRequest, ChunksMakeAnInterleavedScheduleWithTheFewestMicroBatches) {
  const Plan plan = completed({.pp = 4, .vpp = 2, .seq = 128});
  EXPECT_EQ(plan.schedule, ScheduleKind::interleaved);
  EXPECT_EQ(plan.grad_accum, 4);
  EXPECT_EQ(plan.layers_per_stage, (std::vector<std::int64_t>(8, 1)));
}

TEST(PlanRequest, LayersThatDoNotDivideGetTheUnevenLayout) {
  const Plan plan = complete({.pp = 4, .seq = 128}, dense_model({.layers = 46}), everything());
  EXPECT_EQ(plan.layers_per_stage, (std::vector<std::int64_t>{11, 12, 12, 11}));
}

TEST(PlanRequest, AnyTwoOfTheBatchGiveTheThird) {
  const Plan accumulated = completed({.dp = 4, .micro_batch = 2, .global_batch = 64, .seq = 128});
  EXPECT_EQ(accumulated.grad_accum, 8);  // 64 / (2 x 4)
  const Plan micro = completed({.dp = 4, .grad_accum = 4, .global_batch = 64, .seq = 128});
  EXPECT_EQ(micro.micro_batch, 4);  // 64 / (4 x 4)
  const Plan global = completed({.dp = 4, .micro_batch = 2, .grad_accum = 4, .seq = 128});
  EXPECT_EQ(global.global_batch, 32);
  EXPECT_EQ(completed({.dp = 4, .global_batch = 64, .seq = 128}).grad_accum, 16);
}

TEST(PlanRequest, ABatchThatDoesNotMultiplyOutOffersTheNearestTwo) {
  const Fault fault = refusal({.dp = 7, .micro_batch = 2, .global_batch = 256, .seq = 128});
  EXPECT_EQ(fault.where, "global_batch");
  EXPECT_EQ(fault.hint, "the nearest legal batches are 252 (grad_accum 18) or 266 (grad_accum 19)");
  EXPECT_EQ(refusal({.dp = 7, .grad_accum = 2, .global_batch = 10, .seq = 128}).hint,
            "the nearest legal batch is 14 (micro_batch 1)");
  EXPECT_EQ(
      refusal({.dp = 2, .micro_batch = 2, .grad_accum = 2, .global_batch = 12, .seq = 128}).hint,
      "use global_batch 8, or grad_accum 3");
}

TEST(PlanRequest, ACountThatIsNoMultipleOffersTheNearestTwo) {
  const Fault fault = refusal({.tp = 4, .pp = 2, .seq = 128, .count = 20});
  EXPECT_EQ(fault.where, "count");
  EXPECT_EQ(fault.what, "20 devices are not a multiple of tp x pp x cp = 4 x 2 x 1 = 8");
  EXPECT_EQ(fault.hint, "the nearest counts are 16 or 24");
  // Where one degree is all there is, its own nearest: the divisors of 20 are 1, 2, 4, 5, 10, 20.
  EXPECT_EQ(refusal({.tp = 8, .seq = 128, .count = 20}).hint,
            "the nearest counts are 16 or 24, the nearest tp for 20 devices 5 or 10");
}

TEST(PlanRequest, ReplicasAndCountMustAgree) {
  const Fault fault = refusal({.tp = 2, .dp = 3, .seq = 128, .count = 8});
  EXPECT_EQ(fault.where, "dp");
  EXPECT_EQ(fault.what, "tp x pp x cp x dp = 2 x 1 x 1 x 3 = 6, but count is 8");
  EXPECT_EQ(completed({.tp = 2, .dp = 4, .seq = 128, .count = 8}).dp, 4);
}

TEST(PlanRequest, AMissingSequenceNamesTheModelsLongest) {
  const Fault fault = refusal({});
  EXPECT_EQ(fault.where, "seq");
  EXPECT_EQ(fault.hint, "give the tokens per sequence; the model's longest is 131072");
}

TEST(PlanRequest, ATuningMakesLoraAndARankAloneDoesNot) {
  EXPECT_EQ(refusal({.seq = 128, .lora_rank = 16}).where, "lora_rank");
  EXPECT_EQ(completed({.seq = 128, .tuning = Tuning::qlora}).lora_rank, 8);
  const Fault fault = refusal({.seq = 128, .tuning = Tuning::full, .lora_rank = 16});
  EXPECT_EQ(fault.where, "lora_rank");
}

TEST(PlanRequest, TheLowestStageOfTheProfileIsTheFirstChoice) {
  Profile sharded = everything();
  sharded.zero_stages = {3};
  EXPECT_EQ(complete({.seq = 128}, dense_model({}), sharded).zero, 3);
  EXPECT_EQ(completed({.zero = 2, .seq = 128}).zero, 2);
}

TEST(PlanRequest, ThePlanBearsTheNameOfItsProfile) {
  Profile other = everything();
  other.name = "megatron";
  EXPECT_EQ(complete({.seq = 128}, dense_model({}), other).profile, "megatron");
}

TEST(PlanRequest, WhatValidateRefusesIsRefused) {
  EXPECT_EQ(refusal({.tp = 3, .seq = 128}).where, "tp");
  EXPECT_EQ(refusal({.pp = 9, .seq = 128}).where, "pp");
  EXPECT_EQ(refusal({.pp = 2, .seq = 128, .layers_per_stage = std::vector<std::int64_t>{8}}).where,
            "layers_per_stage");
  EXPECT_EQ(refusal({.seq = 0}).where, "seq");
}

TEST(PlanRequest, WhatIsNotGivenIsOpen) {
  const OpenChoices all = open_choices({.pp = 2, .seq = 128});
  EXPECT_TRUE(all.zero && all.recompute && all.micro_batch && all.offload && all.vpp);
  const OpenChoices none = open_choices(
      {.zero = 0, .micro_batch = 1, .recompute = RecomputePolicy{}, .offload = Offload::none});
  EXPECT_FALSE(none.any());
}

TEST(PlanRequest, ChunksAreOpenOnlyInAPipelineWithoutScheduleAndLayout) {
  EXPECT_FALSE(open_choices({}).vpp);
  EXPECT_FALSE(open_choices({.pp = 2, .schedule = ScheduleKind::gpipe}).vpp);
  EXPECT_FALSE(open_choices({.pp = 2, .layers_per_stage = std::vector<std::int64_t>{4, 4}}).vpp);
  EXPECT_FALSE(open_choices({.pp = 2, .vpp = 1}).vpp);
}

TEST(PlanRequest, AMicroBatchThatTheBatchDecidesIsNotOpen) {
  EXPECT_FALSE(open_choices({.grad_accum = 2, .global_batch = 8}).micro_batch);
  EXPECT_TRUE(open_choices({.global_batch = 8}).micro_batch);
}

TEST(PlanRequest, AFileMayGiveAnyPartOfAPlanAndACount) {
  const PlanRequest request = request_from_json(
      json::parse(R"({"tp": 2, "count": 16, "recompute": "full:3"})", "part.json"), "part.json");
  EXPECT_EQ(request.tp, 2);
  EXPECT_EQ(request.count, 16);
  EXPECT_EQ(to_string(*request.recompute), "full:3");
  EXPECT_FALSE(request.seq.has_value());
}

TEST(PlanRequest, AWholePlanReadAsARequestCompletesToItself) {
  const Plan plan = completed({.tp = 2, .pp = 2, .dp = 2, .micro_batch = 2, .seq = 128});
  const PlanRequest request = request_from_json(to_json(plan), "plan.json");
  EXPECT_EQ(completed(request), plan);
}

TEST(PlanRequest, AnUnknownFieldOfAFileIsRefused) {
  const Fault fault = fault_of(
      [] { (void)request_from_json(json::parse(R"({"counts": 2})", "part.json"), "part.json"); });
  EXPECT_EQ(fault.where, "part.json: counts");
  EXPECT_TRUE(contains(fault.hint, "'count'")) << fault.hint;
}

PlanRequest flagged(const std::string& name, const std::string& text) {
  PlanRequest request;
  set_field(request, name, text, "--" + name);
  return request;
}

TEST(SetField, EveryKindOfFieldReadsTheTextOfItsFlag) {
  EXPECT_EQ(flagged("tp", "8").tp, 8);
  EXPECT_EQ(flagged("seq", "32K").seq, 32000);
  EXPECT_EQ(flagged("zero", "3").zero, 3);
  EXPECT_EQ(flagged("sp", "on").sp, true);
  EXPECT_EQ(flagged("sp", "no").sp, false);
  EXPECT_EQ(to_string(*flagged("recompute", "selective:norm").recompute), "selective:norm");
  EXPECT_EQ(flagged("schedule", "gpipe").schedule, ScheduleKind::gpipe);
  EXPECT_EQ(flagged("offload", "optimizer+gradients").offload, Offload::optimizer_gradients);
  EXPECT_EQ(flagged("layers_per_stage", "11,12,12,11").layers_per_stage,
            (std::vector<std::int64_t>{11, 12, 12, 11}));
  EXPECT_EQ(flagged("profile", "megatron").profile, "megatron");
  EXPECT_EQ(flagged("count", "64").count, 64);
}

TEST(SetField, EveryFieldReadsWhatItsJsonSays) {
  Plan plan;
  plan.seq = 128;
  plan.layers_per_stage = {8};
  PlanRequest request;
  const json::Value written = to_json(plan);
  for (const auto& [name, value] : written.object()) {
    std::string text =
        value.is_string() ? value.string() : json::write(value, json::Layout::one_line);
    if (value.is_array()) text = "8";
    set_field(request, name, text, name);
  }
  EXPECT_EQ(completed(request), plan);
}

Fault flag_refusal(const std::string& name, const std::string& text) {
  return fault_of([&] { (void)flagged(name, text); });
}

TEST(SetField, AFaultIsNamedByItsFlag) {
  EXPECT_EQ(flag_refusal("tp", "0").where, "--tp");
  EXPECT_EQ(flag_refusal("tp", "two").where, "--tp");
  EXPECT_EQ(flag_refusal("sp", "maybe").what, "'maybe' is neither on nor off");
  EXPECT_EQ(flag_refusal("zero", "4").what, "is 4; it must be from 0 to 3");
  EXPECT_EQ(flag_refusal("precision", "bf61").where, "--precision");
  EXPECT_EQ(flag_refusal("layers_per_stage", "4,,4").where, "--layers_per_stage");
  EXPECT_EQ(flag_refusal("recompute", "half").where, "--recompute");
}

TEST(PlanRequest, HintsOfNumbersKeepToTheFieldsRange) {
  for (const char* text : {"-1", "1.5", "NaN", "1e400"}) {
    PlanRequest request;
    const Fault fault = fault_of([&] { set_field(request, "tp", text, "--tp"); });
    EXPECT_EQ(fault.where, "--tp");
    EXPECT_EQ(fault.hint, "write a whole number from 1 to 1048576") << text;
  }
  PlanRequest request;
  const Fault fault = fault_of([&] { set_field(request, "tp", "1e400", "--tp"); });
  EXPECT_TRUE(contains(fault.what, "the limit is 1048576"));
}

TEST(PlanRequest, AFaultWithoutAFileHasNoEmptyPlace) {
  const Fault fault =
      fault_of([] { (void)request_from_json(json::parse(R"({"tpp": 2})", "x"), ""); });
  EXPECT_EQ(fault.where, "tpp");
}

}  // namespace
}  // namespace fourhold::plan

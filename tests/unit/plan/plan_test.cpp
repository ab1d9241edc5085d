#include "fourhold/plan/plan.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/plan_fields.h"
#include "small_models.h"

namespace fourhold::plan {
namespace {

using Layers = std::vector<std::int64_t>;

TEST(CanonicalLayout, LayersThatDivideAreEqualEverywhere) {
  EXPECT_EQ(canonical_layout(32, 4), (Layers{8, 8, 8, 8}));
}

TEST(CanonicalLayout, LastFirstLastButOneAndSecondGiveALayerInThisOrder) {
  EXPECT_EQ(canonical_layout(46, 4), (Layers{11, 12, 12, 11}));  // 4 x 12 - 2
  EXPECT_EQ(canonical_layout(15, 4), (Layers{4, 4, 4, 3}));
  EXPECT_EQ(canonical_layout(13, 4), (Layers{3, 4, 3, 3}));
  EXPECT_EQ(canonical_layout(126, 8), (Layers{15, 16, 16, 16, 16, 16, 16, 15}));
}

TEST(CanonicalLayout, LayersAlwaysAddUpAndStagesDifferByAtMostOne) {
  for (std::int64_t layers = 1; layers <= 40; ++layers) {
    for (std::int64_t stages = 1; stages <= layers; ++stages) {
      const Layers layout = canonical_layout(layers, stages);
      EXPECT_EQ(std::accumulate(layout.begin(), layout.end(), std::int64_t{0}), layers);
      const auto [least, most] = std::minmax_element(layout.begin(), layout.end());
      EXPECT_LE(*most - *least, 1);
      EXPECT_GE(*least, 1);
    }
  }
}

TEST(CanonicalLayout, MoreStagesThanLayersAreRefused) {
  const Fault fault = fault_of([] { (void)canonical_layout(4, 5); });
  EXPECT_EQ(fault.where, "pp");
  EXPECT_EQ(fault.what, "5 stages are more than the 4 layers");
  EXPECT_EQ(fault.hint, "use pp x vpp of at most 4");
}

TEST(TensorDegrees, DegreesDivideHeadsAndKeyValueHeadsOrReplicateThem) {
  // Qwen2.5-7B: 28 heads, 4 kv heads. 7 and 14 divide the heads, but 7 % 4 and 14 % 4 are not 0.
  const TensorDegrees grouped = tensor_degrees(dense_model({.heads = 28, .kv_heads = 4}));
  EXPECT_EQ(grouped.clean, (Layers{1, 2, 4}));
  EXPECT_EQ(grouped.replicated, (Layers{28}));
  // GPT-2 XL: 25 heads of its own keys and values.
  const TensorDegrees multi = tensor_degrees(dense_model({.heads = 25, .kv_heads = 25}));
  EXPECT_EQ(multi.clean, (Layers{1, 5, 25}));
  EXPECT_TRUE(multi.replicated.empty());
  // Falcon-7B: 71 heads, 1 kv head.
  const TensorDegrees single = tensor_degrees(dense_model({.heads = 71, .kv_heads = 1}));
  EXPECT_EQ(single.clean, (Layers{1}));
  EXPECT_EQ(single.replicated, (Layers{71}));
}

TEST(TensorDegrees, LatentAttentionSplitsByHeadsAlone) {
  model::ModelConfig config = dense_model({.heads = 16, .kv_heads = 1});
  config.kinds.front().attention.kind = model::AttentionKind::latent;
  EXPECT_EQ(tensor_degrees(config).clean, (Layers{1, 2, 4, 8, 16}));
}

TEST(TensorDegrees, LayersOfDifferentHeadsAllowOnlyWhatAllOfThemAllow) {
  model::ModelConfig config = dense_model({.heads = 12, .kv_heads = 4});
  model::LayerKind other = config.kinds.front();
  other.attention.heads = 16;
  other.attention.kv_heads = 2;
  config.kinds.push_back(other);
  // Common divisors of 12 and 16: 1, 2, 4; 4 is clean for 4 kv heads and replicates 2.
  EXPECT_EQ(tensor_degrees(config).clean, (Layers{1, 2}));
  EXPECT_EQ(tensor_degrees(config).replicated, (Layers{4}));
}

TEST(Switches, ThePlanDecidesTypeChunkAndAdaptersAndTheProfileTheRest) {
  Profile profile;
  profile.switches.norm = model::NormSaving::wide;
  Plan plan;
  plan.precision = Precision::fp16;
  plan.loss_chunk = 512;
  plan.tuning = Tuning::qlora;
  plan.lora_rank = 8;
  const model::Switches switches = switches_of(plan, profile);
  EXPECT_EQ(switches.compute, DType::fp16);
  EXPECT_EQ(switches.loss_chunk, 512);
  EXPECT_EQ(switches.adapters, model::Adapters::lora);
  EXPECT_EQ(switches.lora_rank, 8);
  EXPECT_EQ(switches.norm, model::NormSaving::wide);
  EXPECT_EQ(switches_of({}, profile).adapters, model::Adapters::none);
}

TEST(PlanText, OneLineLeavesOutWhatIsOff) {
  Plan plan;
  plan.seq = 4096;
  EXPECT_EQ(to_string(plan),
            "dp 1, micro-batch 1 x 1, global batch 1, seq 4096, bf16, adamw, profile standard");
}

TEST(PlanText, OneLineNamesEverythingThatIsOn) {
  Plan plan;
  plan.tp = 8;
  plan.sp = true;
  plan.pp = 4;
  plan.vpp = 1;
  plan.cp = 2;
  plan.ep = 16;
  plan.dp = 128;
  plan.zero = 1;
  plan.grad_accum = 16;
  plan.global_batch = 2048;
  plan.seq = 8192;
  plan.schedule = ScheduleKind::gpipe;
  plan.layers_per_stage = {11, 12, 12, 11};
  plan.recompute = recompute_from_string("full:3");
  plan.offload = Offload::optimizer;
  plan.activation_offload = ActivationOffload::residual;
  plan.first_moment = MomentFormat::fp8;
  plan.second_moment = MomentFormat::bf16;
  plan.gradient_accumulation = GradientAccumulation::fp32;
  plan.loss_chunk = 512;
  plan.tuning = Tuning::lora;
  plan.lora_rank = 8;
  EXPECT_EQ(
      to_string(plan),
      "tp 8 (sp), pp 4 (layers 11/12/12/11), cp 2, ep 16, dp 128, zero 1, micro-batch 1 x 16, "
      "global batch 2048, seq 8192, gpipe, recompute full:3, offload optimizer, residual on the "
      "host, bf16, adamw, first moment fp8, second moment bf16, fp32 gradients, loss in chunks of "
      "512, lora of rank 8, profile standard");
}

Plan parsed(const std::string& text) {
  return plan_from_json(json::parse(text, "plan.json"), "plan.json");
}

TEST(PlanJson, FieldsStandInTheOrderOfTheirListUnderTheirNames) {
  Plan plan;
  plan.seq = 4096;
  plan.layers_per_stage = {2, 2};
  EXPECT_EQ(
      json::write(to_json(plan), json::Layout::one_line),
      R"({"tp": 1, "sp": false, "pp": 1, "vpp": 1, "cp": 1, "ep": 1, "dp": 1, "zero": 0, )"
      R"("shard_groups": 1, "micro_batch": 1, "grad_accum": 1, "global_batch": 1, "seq": 4096, )"
      R"("recompute": "none", "schedule": "1f1b", "layers_per_stage": [2, 2], )"
      R"("offload": "none", "activation_offload": "none", "precision": "bf16", )"
      R"("optimizer": "adamw", "first_moment": "auto", "second_moment": "auto", )"
      R"("gradient_accumulation": "same", "loss_chunk": 0, "prediction_layers": 0, )"
      R"("tuning": "full", "lora_rank": 0, "lora_targets": "all-linear", "lora_dropout": 0.0, )"
      R"("base_precision": "auto", "modules_to_save": "none", "profile": "standard", "threads": 1, "isa": "auto"})");
}

TEST(PlanJson, AbsentFieldsHaveTheirDefaults) {
  const Plan plan = parsed(R"({"seq": 128, "dp": 4, "precision": "bf16-kahan"})");
  Plan expected;
  expected.seq = 128;
  expected.dp = 4;
  expected.precision = Precision::bf16_kahan;
  EXPECT_EQ(plan, expected);
}

// Any value of any field, legal as a plan or not.
class RandomField {
 public:
  void operator()(const FieldInfo& info, std::int64_t& value) const {
    value = *rc::gen::inRange<std::int64_t>(std::max<std::int64_t>(1, info.range.least),
                                            info.range.most + 1);
  }
  void operator()(const FieldInfo& info, int& value) const {
    value = *rc::gen::inRange<int>(static_cast<int>(info.range.least),
                                   static_cast<int>(info.range.most) + 1);
  }
  void operator()(const FieldInfo& /*info*/, bool& value) const {
    value = *rc::gen::arbitrary<bool>();
  }
  void operator()(const FieldInfo& /*info*/, std::string& value) const {
    value = *rc::gen::container<std::string>(rc::gen::inRange('a', '{'));
  }
  void operator()(const FieldInfo& info, std::vector<std::int64_t>& value) const {
    value = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(info.range.least, info.range.most + 1));
  }
  void operator()(const FieldInfo& info, double& value) const {
    constexpr int kSteps = 64;  // fractions that JSON writes exactly
    value = info.numbers.least +
            (info.numbers.most - info.numbers.least) * *rc::gen::inRange(0, kSteps + 1) / kSteps;
  }
  void operator()(const FieldInfo& /*info*/, model::AdapterTargets& value) const {
    value = lora_targets_from_string(
        *rc::gen::element<std::string>("all-linear", "attention", "attention-qv", "mlp", "q,o"));
  }
  void operator()(const FieldInfo& /*info*/, RecomputePolicy& value) const {
    value = recompute_from_string(*rc::gen::element<std::string>(
        "none", "selective", "selective:norm,activation", "full", "full:7"));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(const FieldInfo& /*info*/, Enum& value) const {
    value = static_cast<Enum>(*rc::gen::inRange<std::size_t>(0, kEnumNames<Enum>.size()));
  }
};

RC_GTEST_PROP(PlanJson, AnyPlanSurvivesWritingAndReading, ()) {
  Plan plan;
  visit_fields(RandomField(), plan);
  const std::string text = json::write(to_json(plan));
  RC_ASSERT(parsed(text) == plan);
}

RC_GTEST_PROP(PlanJson, APlanThatDiffersInOneFieldIsNotEqual, ()) {
  Plan plan;
  visit_fields(RandomField(), plan);
  const int changed = *rc::gen::inRange(0, 29);
  Plan other = plan;
  int index = 0;
  visit_fields(
      [&](const FieldInfo& info, auto& field) {
        if (index++ == changed) RandomField()(info, field);
      },
      other);
  RC_ASSERT((plan == other) == (json::write(to_json(plan)) == json::write(to_json(other))));
}

TEST(PlanJson, AnUnknownFieldIsRefusedWithTheNearestName) {
  const Fault fault = fault_of([] { (void)parsed(R"({"seq": 1, "micro-batch": 2})"); });
  EXPECT_EQ(fault.where, "plan.json: micro-batch");
  EXPECT_EQ(fault.what, "is not a known field");
  EXPECT_EQ(fault.hint, "did you mean 'micro_batch'?");
}

TEST(PlanJson, AMissingSequenceIsNamed) {
  const Fault fault = fault_of([] { (void)parsed("{}"); });
  EXPECT_EQ(fault.where, "plan.json: seq");
  EXPECT_EQ(fault.what, "is missing");
}

TEST(PlanJson, AValueOutsideItsRangeIsRefused) {
  const Fault fault = fault_of([] { (void)parsed(R"({"seq": 1, "zero": 4})"); });
  EXPECT_EQ(fault.where, "plan.json: zero");
  EXPECT_EQ(fault.what, "is 4; it must be from 0 to 3");
  EXPECT_EQ(fault_of([] { (void)parsed(R"({"seq": 1, "tp": 0})"); }).where, "plan.json: tp");
}

TEST(PlanJson, AnUnknownNameListsTheLegalOnes) {
  const Fault fault = fault_of([] { (void)parsed(R"({"seq": 1, "schedule": "1b1f"})"); });
  EXPECT_EQ(fault.where, "plan.json: schedule");
  EXPECT_EQ(fault.what, "'1b1f' is not one of its values");
  EXPECT_TRUE(contains(fault.hint, "it may be gpipe, 1f1b or interleaved")) << fault.hint;
}

TEST(PlanJson, AWrongElementOfAListIsNamedByItsPlace) {
  const Fault fault = fault_of([] { (void)parsed(R"({"seq": 1, "layers_per_stage": [1, "2"]})"); });
  EXPECT_EQ(fault.where, "plan.json: layers_per_stage[1]");
  EXPECT_EQ(fault_of([] { (void)parsed(R"({"seq": 1, "layers_per_stage": 2})"); }).what,
            "must be an array, not a number");
}

TEST(PlanJson, AFaultyRecomputePolicyIsNamedByItsField) {
  const Fault fault = fault_of([] { (void)parsed(R"({"seq": 1, "recompute": "half"})"); });
  EXPECT_EQ(fault.where, "plan.json: recompute");
}

TEST(PlanJson, SomethingElseThanAnObjectIsRefused) {
  EXPECT_EQ(fault_of([] { (void)parsed("[]"); }).what, "must be an object, not an array");
}

}  // namespace
}  // namespace fourhold::plan

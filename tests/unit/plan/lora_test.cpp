// What a plan says of adapters: targets as text, what is filled in, what is refused.
#include <gtest/gtest.h>

#include "fourhold/plan/lora_targets.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/validate.h"
#include "small_models.h"

namespace fourhold::plan {
namespace {

using model::AdapterTarget;
using model::AdapterTargets;

Profile everything() {
  Profile profile;
  profile.name = "any";
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

TEST(LoraTargets, ArePresetsOrListsInEitherSpelling) {
  EXPECT_EQ(lora_targets_from_string("q,v"), (AdapterTargets{AdapterTarget::q, AdapterTarget::v}));
  EXPECT_EQ(lora_targets_from_string("q_proj,v_proj"), lora_targets_from_string("attention-qv"));
  EXPECT_EQ(lora_targets_from_string("all-linear"), AdapterTargets::all());
  EXPECT_EQ(to_string(lora_targets_from_string("v,q")), "attention-qv");
  EXPECT_EQ(to_string(lora_targets_from_string("down,o")), "o,down");
}

TEST(LoraTargets, OfAnotherSpellingAreRefusedWithANearOne) {
  const Fault fault = fault_of([] { (void)lora_targets_from_string("all-linaer"); });
  EXPECT_EQ(fault.where, "lora_targets");
  EXPECT_NE(fault.hint.find("did you mean 'all-linear'"), std::string::npos) << fault.hint;
  EXPECT_NE(fault_of([] { (void)lora_targets_from_string("q,q"); }).what.find("named twice"),
            std::string::npos);
  EXPECT_NE(fault_of([] { (void)lora_targets_from_string("q,,v"); }).what.find("''"),
            std::string::npos);
}

TEST(Lora, NoneOfItsFieldsFreezesWeightsWithoutATuning) {
  EXPECT_EQ(refusal({.seq = 128, .lora_targets = lora_targets_from_string("q")}).where,
            "lora_targets");
  EXPECT_EQ(refusal({.seq = 128, .lora_dropout = 0.1}).where, "lora_dropout");
  EXPECT_EQ(refusal({.seq = 128, .modules_to_save = model::TrainedModules::head}).where,
            "modules_to_save");
  const Fault quantised = refusal({.seq = 128, .base_precision = BasePrecision::nf4_dq});
  EXPECT_EQ(quantised.where, "base_precision");
  EXPECT_NE(quantised.hint.find("--tuning qlora"), std::string::npos) << quantised.hint;
  const Fault plain = refusal({.seq = 128, .base_precision = BasePrecision::fp32});
  EXPECT_NE(plain.hint.find("--tuning lora"), std::string::npos) << plain.hint;
  EXPECT_EQ(
      completed({.seq = 128, .lora_rank = 0, .base_precision = BasePrecision::automatic}).tuning,
      Tuning::full);
}

TEST(Lora, TheBaseIsOfTheComputeTypeOrNf4) {
  EXPECT_EQ(base_precision_of(completed({.seq = 128, .tuning = Tuning::qlora})),
            BasePrecision::nf4);
  EXPECT_EQ(base_precision_of(completed({.seq = 128, .precision = Precision::fp16})),
            BasePrecision::fp16);
}

TEST(Lora, ItsFieldsAreRefusedWhereAllWeightsAreTrained) {
  const Tuning full = Tuning::full;
  EXPECT_EQ(refusal({.seq = 128, .tuning = full, .lora_targets = AdapterTargets{}}).where,
            "lora_targets");
  EXPECT_EQ(refusal({.seq = 128, .tuning = full, .lora_dropout = 0.1}).where, "lora_dropout");
  EXPECT_EQ(refusal({.seq = 128, .tuning = full, .base_precision = BasePrecision::fp32}).where,
            "base_precision");
  EXPECT_EQ(
      refusal({.seq = 128, .tuning = full, .modules_to_save = model::TrainedModules::head}).where,
      "modules_to_save");
}

TEST(Lora, ABaseThatContradictsTheRestIsRefused) {
  const Fault quantised =
      refusal({.seq = 128, .tuning = Tuning::lora, .base_precision = BasePrecision::int8});
  EXPECT_EQ(quantised.where, "base_precision");
  EXPECT_EQ(quantised.hint, "use tuning qlora, or base_precision auto");
  EXPECT_EQ(
      refusal({.seq = 128, .tuning = Tuning::qlora, .base_precision = BasePrecision::bf16}).hint,
      "use nf4, nf4-dq or int8, or tuning lora");
  EXPECT_EQ(
      refusal({.seq = 128, .tuning = Tuning::lora, .base_precision = BasePrecision::fp16}).hint,
      "use bf16, fp32 or auto, or set precision to fp16");
}

TEST(Lora, TargetsNoLayerHasAreRefused) {
  const Fault fault = refusal(
      {.seq = 128, .tuning = Tuning::lora, .lora_targets = lora_targets_from_string("q,kv")});
  EXPECT_EQ(fault.where, "lora_targets");
  EXPECT_NE(fault.what.find("names kv, which no layer"), std::string::npos) << fault.what;
}

}  // namespace
}  // namespace fourhold::plan

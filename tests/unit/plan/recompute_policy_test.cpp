#include "fourhold/plan/recompute_policy.h"

#include <gtest/gtest.h>

#include "small_models.h"

namespace fourhold::plan {
namespace {

using model::RecomputeGroup;

TEST(RecomputePolicy, EveryFormSurvivesWritingAndReading) {
  for (const char* text :
       {"none", "selective", "selective:norm", "selective:attention,norm",
        "selective:attention,norm,activation,experts,alternate", "selective:norm,mlp,qkv", "full",
        "full:1", "full:12", "minimal", "minimal_with_context", "save_qkv_proj", "save:context",
        "save:qkv,mlpwi"}) {
    EXPECT_EQ(to_string(recompute_from_string(text)), text);
  }
}

TEST(RecomputePolicy, SelectiveAloneDropsTheAttentionCore) {
  const RecomputePolicy policy = recompute_from_string("selective");
  EXPECT_TRUE(policy.drops(RecomputeGroup::attention));
  EXPECT_FALSE(policy.drops(RecomputeGroup::norm));
  EXPECT_EQ(policy, recompute_from_string("selective:attention"));
}

TEST(RecomputePolicy, TheOrderInWhichGroupsAreNamedDoesNotMatter) {
  EXPECT_EQ(recompute_from_string("selective:activation,norm"),
            recompute_from_string("selective:norm,activation"));
}

TEST(RecomputePolicy, ASetThatMaxTextNamesIsWrittenByThatName) {
  EXPECT_EQ(to_string(recompute_from_string("save:out,qkv")), "save_dot_except_mlp");
  EXPECT_EQ(to_string(recompute_from_string("save:mlpwo,mlpwi,out,qkv")), "minimal");
}

TEST(RecomputePolicy, ActivationsInHostMemoryAreRefusedWithTheNearestOnTheDevice) {
  const Fault fault = fault_of([] { (void)recompute_from_string("qkv_proj_offloaded"); });
  EXPECT_TRUE(contains(fault.what, "host memory")) << fault.what;
  EXPECT_TRUE(contains(fault.hint, "save_qkv_proj")) << fault.hint;
}

TEST(RecomputePolicy, PoliciesThatDifferAreNotEqual) {
  EXPECT_FALSE(recompute_from_string("full") == recompute_from_string("full:2"));
  EXPECT_FALSE(recompute_from_string("selective:norm") == recompute_from_string("selective"));
  EXPECT_FALSE(recompute_from_string("none") == recompute_from_string("full"));
}

TEST(RecomputePolicy, OnlyTheFirstLayersOfARankAreRecomputedUnderFullK) {
  const RecomputePolicy policy = recompute_from_string("full:2");
  EXPECT_EQ(policy_of_layer(policy, 0), recompute_from_string("full"));
  EXPECT_EQ(policy_of_layer(policy, 1), recompute_from_string("full"));
  EXPECT_EQ(policy_of_layer(policy, 2), recompute_from_string("none"));
}

TEST(RecomputePolicy, OtherPoliciesAreTheSameForEveryLayer) {
  for (const char* text : {"none", "selective:norm", "full"}) {
    EXPECT_EQ(policy_of_layer(recompute_from_string(text), 99), recompute_from_string(text));
  }
}

Fault refusal(const char* text) {
  return fault_of([text] { (void)recompute_from_string(text); });
}

TEST(RecomputePolicy, AnUnknownPolicyIsRefusedWithTheLegalOnes) {
  const Fault fault = refusal("ful");
  EXPECT_EQ(fault.where, "recompute");
  EXPECT_EQ(fault.what, "'ful' is not a recompute policy");
  EXPECT_TRUE(contains(fault.hint, "did you mean 'full'")) << fault.hint;
  EXPECT_TRUE(contains(fault.hint, "full:K")) << fault.hint;
}

TEST(RecomputePolicy, AnUnknownGroupIsRefused) {
  const Fault fault = refusal("selective:atention");
  EXPECT_EQ(fault.what, "'atention' is not a group of operations");
  EXPECT_TRUE(contains(fault.hint, "'attention'")) << fault.hint;
  EXPECT_EQ(refusal("selective:").what, "'' is not a group of operations");
}

TEST(RecomputePolicy, AGroupNamedTwiceIsRefused) {
  EXPECT_EQ(refusal("selective:norm,norm").what, "'norm' is named twice");
}

TEST(RecomputePolicy, FullOfNoLayersIsRefused) {
  EXPECT_EQ(refusal("full:0").what, "full:0 recomputes nothing");
}

TEST(RecomputePolicy, FullOfSomethingElseThanACountIsRefused) {
  EXPECT_EQ(refusal("full:x").where, "recompute");
  EXPECT_EQ(refusal("full:-1").where, "recompute");
}

}  // namespace
}  // namespace fourhold::plan

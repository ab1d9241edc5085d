#include "fourhold/api/plan_file_conflict.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"

namespace fourhold::api {
namespace {

using plan::PlanRequest;

// As `plan -o` writes it: 8 replicas of 2 x 4 sequences.
PlanRequest whole() {
  return {.tp = 1,
          .pp = 1,
          .cp = 1,
          .dp = 8,
          .micro_batch = 2,
          .grad_accum = 4,
          .global_batch = 64,
          .layers_per_stage = std::vector<std::int64_t>{32},
          .count = 8};
}

struct Fault {
  std::string where;
  std::string what;
  std::string hint;
};

Fault refusal(const PlanRequest& flags, const PlanRequest& file, const std::string& model = {}) {
  try {
    refuse_conflict({flags, file, "p.json", model});
  } catch (const Error& error) {
    return {error.where(), error.what(), error.hint()};
  }
  return {};
}

TEST(PlanFileConflict, ADegreeThatLeavesTheReplicasPointsToChange) {
  const Fault fault = refusal({.tp = 2}, whole());
  EXPECT_EQ(fault.where, "--tp");
  EXPECT_EQ(fault.what,
            "is 2, but p.json states dp 8 and count 8: tp x pp x cp x dp = 2 x 1 x 1 x 8 = 16");
  EXPECT_EQ(
      fault.hint,
      "`fourhold plan --from p.json --change tp=2` lets what depends on it follow; or take dp "
      "out of p.json");
}

TEST(PlanFileConflict, AllFlagsThatDifferAreChanges) {
  const Fault fault = refusal({.tp = 2, .zero = 1, .micro_batch = 2}, whole(), "gpt2");
  EXPECT_TRUE(holds(fault.hint, "plan gpt2 --from p.json --change tp=2 --change zero=1`"));
}

TEST(PlanFileConflict, ABatchThatLeavesTheAccumulationPointsToChange) {
  const Fault fault = refusal({.micro_batch = 1}, whole());
  EXPECT_EQ(fault.where, "--micro-batch");
  EXPECT_EQ(fault.what,
            "is 1, but p.json states grad_accum 4 and dp 8 and global_batch 64: micro_batch x "
            "grad_accum x dp = 1 x 4 x 8 = 32");
  EXPECT_TRUE(holds(fault.hint, "--change micro_batch=1"));
  EXPECT_TRUE(holds(fault.hint, "take grad_accum out"));
}

TEST(PlanFileConflict, ACountBecomesTheReplicasThatFollowFromIt) {
  const Fault fault = refusal({.count = 16}, whole());
  EXPECT_EQ(fault.where, "--count");
  EXPECT_TRUE(holds(fault.hint, "--from p.json --change dp=16`"));
}

TEST(PlanFileConflict, StagesThatLeaveTheLayersPointToChange) {
  const Fault fault = refusal({.pp = 2, .dp = 4}, {.layers_per_stage = whole().layers_per_stage});
  EXPECT_EQ(fault.where, "--pp");
  EXPECT_EQ(fault.what,
            "is 2, but p.json states layers_per_stage of length 1: pp x vpp = 2 x 1 = 2");
  EXPECT_TRUE(holds(fault.hint, "--change pp=2"));
}

TEST(PlanFileConflict, WhatAgreesOrIsLeftOpenIsNone) {
  EXPECT_EQ(refusal({}, whole()).where, "");
  EXPECT_EQ(refusal({.zero = 3}, whole()).where, "");
  EXPECT_EQ(refusal({.tp = 2, .dp = 4, .grad_accum = 8}, whole()).where, "");
  EXPECT_EQ(refusal({.tp = 2}, {.count = 8}).where, "");  // dp follows
  EXPECT_EQ(refusal({.count = 16}, {.dp = 8}).where, "--count");
  EXPECT_EQ(refusal({.tp = 3, .dp = 2, .count = 8}, {}).where, "");  // flags alone: complete()'s
}

}  // namespace
}  // namespace fourhold::api

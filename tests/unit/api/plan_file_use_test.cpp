#include "fourhold/api/plan_file_use.h"

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

constexpr const char* kFile =
    R"({"schema": "fourhold.plan-file/1", "model": "gpt2", "device": "t4", "memory": "10GB",
        "headroom": 0.1, "tokens": 1000000000, "price": 0.5, "mfu": 0.4, "count": 2,
        "plan": {"zero": 1}})";

struct Asked {
  RunRequest run;
  TimeRequest time;
};

Asked merged(const TestFolder& folder, Asked asked) {
  asked.run.model = folder.write("p.json", kFile);
  read_plan_file(asked.run, asked.time);
  return asked;
}

TEST(PlanFileUse, WhatNoFlagSaysIsAsTheFileSaysAndANoteSaysSo) {
  const TestFolder folder;
  const Asked asked = merged(folder, {});
  EXPECT_EQ(asked.run.model, "gpt2");
  EXPECT_EQ(asked.run.target.device, "t4");
  EXPECT_EQ(asked.run.target.memory, Bytes(10'000'000'000));
  EXPECT_EQ(asked.run.target.headroom, 0.1);
  EXPECT_EQ(asked.time.tokens, 1'000'000'000);
  EXPECT_EQ(asked.time.price, 0.5);
  EXPECT_EQ(asked.time.mfu, 0.4);
  EXPECT_EQ(asked.run.plan.zero, 1);
  ASSERT_EQ(asked.run.notes.size(), 1U);
  EXPECT_TRUE(holds(asked.run.notes[0], "--tokens 1,000,000,000"));
  EXPECT_TRUE(holds(asked.run.notes[0], "--memory 9.31 GiB"));
}

TEST(PlanFileUse, FlagsWin) {
  const TestFolder folder;
  Asked flags;
  flags.run.target.memory = Bytes(8'000'000'000);
  flags.time.tokens = 5;
  const Asked asked = merged(folder, flags);
  EXPECT_EQ(asked.run.target.memory, Bytes(8'000'000'000));
  EXPECT_EQ(asked.time.tokens, 5);
}

TEST(PlanFileUse, AConfidenceThatIsGivenStandsInPlaceOfTheFilesHeadroom) {
  const TestFolder folder;
  Asked flags;
  flags.run.target.confidence = 0.9;
  const Asked asked = merged(folder, flags);
  EXPECT_FALSE(asked.run.target.headroom.has_value());
  EXPECT_EQ(asked.run.target.confidence, 0.9);
}

TEST(PlanFileUse, AGivenSpeedLeavesTheFilesSpeed) {
  const TestFolder folder;
  Asked flags;
  flags.time.tokens_per_second = 1000;
  const Asked asked = merged(folder, flags);
  EXPECT_FALSE(asked.time.mfu.has_value());
  check(asked.time);  // one speed, not two
}

TEST(PlanFileUse, AnotherDeviceDoesNotHaveTheFilesMemoryPriceOrSpeed) {
  const TestFolder folder;
  Asked flags;
  flags.run.target.device = "h200";
  const Asked asked = merged(folder, flags);
  EXPECT_FALSE(asked.run.target.memory.has_value());
  EXPECT_FALSE(asked.time.price.has_value());
  EXPECT_FALSE(asked.time.mfu.has_value());
  EXPECT_EQ(asked.time.tokens, 1'000'000'000);  // of the run, not of a device
  ASSERT_EQ(asked.run.notes.size(), 2U);
  EXPECT_TRUE(holds(asked.run.notes[1], "not taken for h200"));
}

TEST(PlanFileUse, ADeviceByAnotherNameIsTheSameDevice) {
  const TestFolder folder;
  Asked flags;
  flags.run.target.device = "NVIDIA T4";
  const Asked asked = merged(folder, flags);
  EXPECT_EQ(asked.run.target.device, "NVIDIA T4");
  EXPECT_EQ(asked.run.target.memory, Bytes(10'000'000'000));
}

}  // namespace
}  // namespace fourhold::api

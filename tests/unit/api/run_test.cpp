#include "fourhold/api/run.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

RunRequest of(const std::string& model, const std::string& device = {}) {
  RunRequest request;
  request.model = model;
  request.target.device = device;
  return request;
}

bool was_chosen(const LoadedRun& run, const std::string& name) {
  return std::find(run.chosen.begin(), run.chosen.end(), name) != run.chosen.end();
}

TEST(Run, TakesTheModelsLongestSequenceUpTo4096WhereNoneIsGiven) {
  EXPECT_EQ(load_run(of("gpt2")).request.seq, 1024);
  EXPECT_EQ(load_run(of("llama-3.1-8b")).request.seq, 4096);
  EXPECT_TRUE(was_chosen(load_run(of("gpt2")), "seq"));
  RunRequest given = of("gpt2");
  given.plan.seq = 128;
  EXPECT_EQ(load_run(given).request.seq, 128);
  EXPECT_FALSE(was_chosen(load_run(given), "seq"));
}

TEST(Run, TakesFp16OnADeviceWithoutBf16AndSaysSo) {
  const LoadedRun run = load_run(of("gpt2", "t4"));
  EXPECT_EQ(run.request.precision, plan::Precision::fp16);
  EXPECT_TRUE(std::any_of(run.notes.begin(), run.notes.end(),
                          [](const std::string& note) { return holds(note, "no bf16"); }));
  EXPECT_FALSE(load_run(of("gpt2", "a100-sxm-80gb")).request.precision.has_value());
}

TEST(Run, TakesOurOwnEngineOnACpuAndTheStandardProfileElsewhere) {
  EXPECT_EQ(load_run(of("gpt2", "cpu")).profile.name, "fourhold");
  EXPECT_EQ(load_run(of("gpt2", "t4")).profile.name, "standard");
  EXPECT_EQ(load_run(of("gpt2")).profile.name, "standard");
}

TEST(Run, CountsTheDevicesOfAList) {
  EXPECT_EQ(load_run(of("gpt2", "2xt4,t4")).request.count, 3);
  RunRequest contradicting = of("gpt2", "2xt4,t4");
  contradicting.plan.count = 4;
  EXPECT_EQ(refusal_of([&] { static_cast<void>(load_run(contradicting)); }).where, "--count");
}

TEST(Run, FlagsWinOverThePlanFile) {
  const TestFolder folder;
  RunRequest request = of(folder.write(
      "plan.json", R"({"schema": "fourhold.plan-file/1", "model": "gpt2", "device": "t4",
                       "count": 4, "plan": {"zero": 1, "micro_batch": 2}})"));
  request.plan.zero = 3;
  const LoadedRun run = load_run(request);
  EXPECT_EQ(run.model.name, "gpt2");
  EXPECT_EQ(run.target->cluster.device.name, "t4");
  EXPECT_EQ(run.request.count, 4);
  EXPECT_EQ(run.request.zero, 3);
  EXPECT_EQ(run.request.micro_batch, 2);
}

TEST(Run, TakesAPlanAloneForANamedModel) {
  const TestFolder folder;
  RunRequest request = of("gpt2");
  request.plan_file = folder.write("plan.json", R"({"zero": 1, "dp": 2})");
  EXPECT_EQ(load_run(request).request.dp, 2);
}

TEST(Run, RefusesToGuessAModel) {
  EXPECT_EQ(refusal_of([] { static_cast<void>(load_run({})); }).where, "MODEL");
}

TEST(Run, CallsAFileByItsLastFolderAndName) {
  EXPECT_EQ(display_name("gpt2"), "gpt2");
  EXPECT_EQ(display_name("/a/b/mine/config.json"), "mine/config.json");
  EXPECT_EQ(display_name("mine/config.json"), "mine/config.json");
  EXPECT_EQ(display_name("/config.json"), "/config.json");
}

}  // namespace
}  // namespace fourhold::api

#include "fourhold/api/predict.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

PredictRequest of(const std::string& device) {
  PredictRequest request;
  request.run.model = "gpt2";
  request.run.target.device = device;
  request.run.plan.pp = 3;
  request.run.plan.grad_accum = 3;
  return request;
}

std::vector<std::string> first_keys(const json::Value& value, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const std::string& key : keys_of(value)) {
    if (key.rfind(prefix, 0) != 0) keys.push_back(key);
  }
  return keys;
}

TEST(Predict, ItsJsonHasTheseMembersBesideMemory) {
  EXPECT_EQ(first_keys(to_json(predict(of("t4"))), "memory."),
            (std::vector<std::string>{"schema text",
                                      "model.name text",
                                      "model.parameters integer",
                                      "model.active_parameters integer",
                                      "device.name text",
                                      "device.usable_bytes integer",
                                      "device.headroom number",
                                      "device.budget_bytes integer",
                                      "plan object",
                                      "trainable null",
                                      "chosen list",
                                      "time.step_seconds number",
                                      "time.tokens_per_second_per_device number",
                                      "time.tflops_per_device number",
                                      "time.mfu number",
                                      "time.hfu number",
                                      "time.parts.compute number",
                                      "time.parts.recompute number",
                                      "time.parts.tensor_parallel number",
                                      "time.parts.pipeline_bubble number",
                                      "time.parts.pipeline_transfer number",
                                      "time.parts.data_parallel number",
                                      "time.parts.context_parallel number",
                                      "time.parts.expert_parallel number",
                                      "time.parts.offload number",
                                      "time.parts.optimizer number",
                                      "time.parts.host number",
                                      "time.interval_seconds.predicted number",
                                      "time.interval_seconds.low number",
                                      "time.interval_seconds.middle number",
                                      "time.interval_seconds.high number",
                                      "time.interval_seconds.coverage number",
                                      "time.interval_seconds.metric text",
                                      "time.interval_seconds.basis.text text",
                                      "time.interval_seconds.basis.scope text",
                                      "time.interval_seconds.basis.rows integer",
                                      "time.interval_seconds.basis.models integer",
                                      "verdict.class text",
                                      "verdict.reason null",
                                      "verdict.explanation text",
                                      "verdict.missing_bytes integer",
                                      "verdict.missing_device_bytes integer",
                                      "verdict.missing_host_bytes integer",
                                      "verdict.answers list",
                                      "run null",
                                      "fit_probability number",
                                      "notes list"}));
}

TEST(Predict, WithTokensItSaysHowLongTheRunTakes) {
  PredictRequest request = of("t4");
  request.time.tokens = 1'000'000'000;
  request.time.price = 0.5;
  const json::Value value = to_json(predict(request));
  EXPECT_EQ(keys_of(*value.find("run")),
            (std::vector<std::string>{"tokens integer", "days number", "single_device_days number",
                                      "speedup number", "speedup_kept number", "cost_usd number",
                                      "deadline_days number"}));
  const double days = value.find("run")->find("days")->number();
  EXPECT_DOUBLE_EQ(value.find("run")->find("cost_usd")->number(), days * 24 * 3 * 0.5);
  EXPECT_LE(value.find("run")->find("speedup_kept")->number(), 1);
}

TEST(Predict, OnMemoryAloneItSaysWhyThereIsNoTime) {
  PredictRequest request = of("");
  request.run.target.memory = Bytes(80'000'000'000);
  const PredictResult result = predict(request);
  EXPECT_TRUE(to_json(result).find("time")->is_null());
  EXPECT_TRUE(std::any_of(result.notes.begin(), result.notes.end(), [](const std::string& note) {
    return holds(note, "time is not predicted");
  }));
}

TEST(Predict, TwoPlanFilesAreCompared) {
  const TestFolder folder;
  PredictRequest request;
  request.run.model =
      folder.write("a.json", R"({"schema": "fourhold.plan-file/1", "model": "gpt2", "device": "t4",
                                 "count": 4, "plan": {"tp": 2, "dp": 2, "seq": 512}})");
  request.run.plan_file =
      folder.write("b.json", R"({"schema": "fourhold.plan-file/1", "model": "gpt2", "device": "t4",
                                 "count": 4, "plan": {"tp": 4, "dp": 1, "seq": 512}})");
  const PredictResult result = predict(request);
  const json::Value value = to_json(result);
  EXPECT_EQ(value.find("schema")->string(), "fourhold.difference/1");
  EXPECT_EQ(value.find("fields")->array().front().find("field")->string(), "tp");
  // The categories and what stands beside them add up to the device's bytes, in both plans.
  for (const char* side : {"a", "b"}) {
    std::int64_t sum = 0;
    std::int64_t device = 0;
    for (const json::Value& row : value.find("bytes")->array()) {
      const std::string name = row.find("category")->string();
      if (name == "host") continue;
      (name == "device" ? device : sum) += row.find(side)->integer();
    }
    EXPECT_EQ(sum, device);
  }
  std::istringstream in(to_text(result, report::Screen{}));
  for (std::string line; std::getline(in, line);) EXPECT_LE(report::columns_of(line), 80) << line;
}

TEST(Predict, WithoutADeviceThereIsNothingToJudge) {
  const json::Value value = to_json(predict(of("")));
  EXPECT_TRUE(value.find("device")->is_null());
  EXPECT_TRUE(value.find("verdict")->is_null());
  EXPECT_TRUE(value.find("memory")->find("usable_bytes")->is_null());
  EXPECT_EQ(value.find("schema")->string(), "fourhold.predict/1");
}

TEST(Predict, HasOneEntryPerStageAndTheLayersAddUp) {
  const json::Value value = to_json(predict(of("t4")));
  std::int64_t layers = 0;
  for (const json::Value& stage : value.find("memory")->find("stages")->array()) {
    layers += stage.find("layers")->integer();
  }
  EXPECT_EQ(value.find("memory")->find("stages")->array().size(), 3U);
  EXPECT_EQ(layers, 12);
}

TEST(Predict, ItsTextListsStagesAndStaysOnTheScreen) {
  const std::string text = to_text(predict(of("t4")), report::Screen{});
  EXPECT_TRUE(holds(text, "gpt2 on 3 x t4: fits: "));
  EXPECT_TRUE(holds(text, "in flight"));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) EXPECT_LE(report::columns_of(line), 80) << line;
}

}  // namespace
}  // namespace fourhold::api

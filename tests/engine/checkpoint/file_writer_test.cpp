#include "fourhold/engine/checkpoint/file_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/file_sum.h"
#include "tests/engine/checkpoint/small_disk.h"
#include "tests/engine/checkpoint/small_run.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using model::TestFolder;

// Bytes that tell where they belong: a block that is written twice or elsewhere is seen.
std::string counted(std::size_t bytes) {
  std::string text;
  for (std::size_t number = 0; text.size() < bytes; ++number) text += std::to_string(number) + ' ';
  text.resize(bytes);
  return text;
}

// Files of less than a block, of whole ones, and with an end of a few bytes behind them.
TEST(FileWriter, WritesWhatIsAppendedInPiecesOfAnySize) {
  const TestFolder folder;
  int made = 0;
  for (const std::size_t bytes : {0, 5, 4096, (1 << 20) + 1, 16 << 20, (19 << 20) + 5}) {
    SCOPED_TRACE(bytes);
    const std::string text = counted(bytes);
    const std::string name = std::to_string(made++);
    FileWriter file(folder.path(), name, static_cast<std::int64_t>(bytes));
    std::size_t next = 1;  // 1, 8, 64 .. bytes, so that few ends meet the end of a block
    for (std::size_t at = 0; at < bytes;) {
      const std::size_t size = std::min(next, bytes - at);
      file.append(std::string_view(text).substr(at, size));
      at += size;
      next = next > (4 << 20) ? 1 : next * 8;
    }
    const FileSum sum = file.close();
    EXPECT_EQ(sum.bytes, static_cast<std::int64_t>(bytes));
    EXPECT_EQ(read_text_file(folder.path() + "/" + name, 1 << 25), text);
    EXPECT_NO_THROW(check_file_contents(folder.path(), sum));
  }
}

TEST(FileWriter, DoesNotWriteOverAnotherFile) {
  const TestFolder folder;
  (void)folder.write("out", "mine");
  EXPECT_THROW(static_cast<void>(write_new_file(folder.path(), "out", "yours")), Error);
  EXPECT_EQ(read_text_file(folder.path() + "/out", 10), "mine");
}

// The file is longer than one block of sums; the change is in the second.
TEST(FileSum, FindsTheBlockThatWasChanged) {
  const TestFolder folder;
  const std::string path = folder.write("zeros", "");
  const std::int64_t bytes = kSumBlockBytes + 100;
  fs::resize_file(path, static_cast<std::uintmax_t>(bytes));
  BlockSums sums;
  const std::vector<std::byte> zeros(1 << 20);
  for (int i = 0; i < 64; ++i) sums.add(zeros);
  sums.add(std::span<const std::byte>(zeros).first(100));
  const FileSum sum{"zeros", bytes, sums.take()};
  ASSERT_EQ(sum.blocks.size(), 2U);
  EXPECT_NO_THROW(check_file_contents(folder.path(), sum));
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(bytes - 1).put('\1');
  try {
    check_file_contents(folder.path(), sum);
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_STREQ(fault.what(),
                 "byte 67108864: the 100 bytes from here are not those that were saved");
  }
}

// Saves step 1 with room and step 2 without, and expects step 1 to be whole and step 2 gone.
template <typename MakeFull>
void expect_previous_survives(const std::string& folder, MakeFull&& make_full) {
  SmallRun run;
  run.train();
  run.save(folder, 1);
  run.train();
  [[maybe_unused]] const auto full = make_full();
  try {
    run.save(folder, 1);
    ADD_FAILURE() << "there was room after all";
  } catch (const Error& fault) {
    EXPECT_NE(fault.where().find(".step-00000002.partial/"), std::string::npos) << fault.where();
    EXPECT_NE(std::string(fault.what()).find(" bytes, of which "), std::string::npos)
        << fault.what();
    EXPECT_NE(fault.hint().find("free space"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(folder + "/.step-00000002.partial"));
  const Latest latest = latest_checkpoint(folder);
  ASSERT_EQ(latest.path, folder + "/step-00000001");
  SmallRun expected;
  expected.train();
  SmallRun read;
  read.load(*latest.path);
  EXPECT_TRUE(read == expected);
}

// Files of this process may not grow beyond 1 KiB while this lives.
class FileLimit {
 public:
  FileLimit() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = 1024;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(FullDisk, AFileSizeLimitLeavesThePreviousCheckpointWhole) {
  const TestFolder folder;
  expect_previous_survives(folder.path(), [] { return FileLimit(); });
}

TEST(FullDisk, AFullFileSystemLeavesThePreviousCheckpointWhole) {
  const TestFolder folder;
  const std::string path = folder.path() + "/disk";
  const testing::SmallDisk disk(path, "256k");
  ASSERT_TRUE(disk.is_mounted()) << testing::kMountingTakesPrivileges;
  expect_previous_survives(path, [&disk] {
    disk.fill();
    return 0;
  });
}

}  // namespace
}  // namespace fourhold::engine

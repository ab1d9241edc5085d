#include "fourhold/engine/checkpoint/file_writer.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/file_sum.h"
#include "tests/engine/checkpoint/small_run.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using model::TestFolder;

TEST(FileWriter, WritesWhatIsAppendedInPiecesOfAnySize) {
  const TestFolder folder;
  const std::string large(3 << 20, 'x');
  FileWriter file(folder.path(), "out", 2 + (3 << 20) + 1);
  file.append("ab");
  file.append(large);
  file.append("c");
  const FileSum sum = file.close();
  EXPECT_EQ(read_text_file(folder.path() + "/out", 1 << 23), "ab" + large + "c");
  EXPECT_EQ(sum.bytes, 3 + (3 << 20));
  EXPECT_NO_THROW(check_file_contents(folder.path(), sum));
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

// A file system of 256 KiB, while this lives.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    fs::create_directory(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(path_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool is_mounted() const { return mounted_; }
  void fill() const {
    const std::string page(4096, 'x');
    std::ofstream file(path_ + "/filler", std::ios::binary);
    while (file.write(page.data(), 4096) && file.flush()) {
    }
  }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST(FullDisk, AFullFileSystemLeavesThePreviousCheckpointWhole) {
  const TestFolder folder;
  const std::string path = folder.path() + "/disk";
  const SmallDisk disk(path);
  ASSERT_TRUE(disk.is_mounted()) << "mounting a small file system takes privileges: test as root";
  expect_previous_survives(path, [&disk] {
    disk.fill();
    return 0;
  });
}

}  // namespace
}  // namespace fourhold::engine

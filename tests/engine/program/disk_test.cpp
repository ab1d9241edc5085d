// A disk that cannot hold a run's checkpoints: said before the first step.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/engine/checkpoint/small_disk.h"

namespace fourhold {
namespace {

namespace fs = std::filesystem;

class DiskRoom : public ::testing::Test {
 protected:
  DiskRoom() {
    folder_ = (fs::temp_directory_path() / "fourhold-disk-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << folder_;
  }
  ~DiskRoom() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string said() const {
    std::ifstream file(path("err"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The exit code of so many steps of the small model, kept in `out`.
  [[nodiscard]] int train(const std::string& out, const std::string& options) const {
    const std::string command = std::string(FOURHOLD_PROGRAM) +
                                " train " FOURHOLD_SOURCE_DIR
                                "/data/examples/small-gpt2.json --lr 1e-3 --batch 1 --seq 16 "
                                "--threads 1 --held-out 0 --device none --isa portable --out " +
                                out + " " + options + " > " + path("out") + " 2> " + path("err");
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  std::string folder_;
};

std::int64_t bytes_in(const std::string& folder) {
  std::int64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<std::int64_t>(entry.file_size());
  }
  return bytes;
}

// 859,008 parameters with a bf16 weight, an fp32 master and two fp32 moments each: 14 bytes,
// 11.47 MiB and what describes them.
TEST_F(DiskRoom, IsAskedForBeforeTheFirstStep) {
  const engine::testing::SmallDisk disk(path("disk"), "30m");
  ASSERT_TRUE(disk.is_mounted()) << engine::testing::kMountingTakesPrivileges;
  const std::string out = disk.path() + "/run";
  // While the third is written, the two before are there.
  EXPECT_EQ(train(out, "--steps 3 --save-every 1"), 2);
  EXPECT_NE(said().find("--out: " + out +
                        " has 30.00 MiB free, and 3 more checkpoints there at "
                        "once, of 11."),
            std::string::npos)
      << said();
  EXPECT_NE(said().find("take 34."), std::string::npos) << said();
  EXPECT_NE(said().find("--keep 1"), std::string::npos) << said();
  EXPECT_FALSE(fs::exists(out));
  ASSERT_EQ(train(out, "--steps 3 --save-every 1 --keep 1"), 0) << said();
  const std::int64_t bytes = bytes_in(out + "/step-00000003");
  EXPECT_GT(bytes, 859'008 * 14);
  EXPECT_LT(bytes, 859'008 * 14 * 1.01);
  // One is there: there is room for one more, and not for two.
  EXPECT_EQ(train(out, "--steps 5 --save-every 1 --resume auto"), 2);
  EXPECT_NE(said().find("2 more checkpoints"), std::string::npos) << said();
  EXPECT_EQ(train(out, "--steps 4 --resume auto"), 0) << said();
  // What is there stays whole when there is room for no more.
  disk.fill();
  EXPECT_EQ(train(out, "--steps 5 --resume auto"), 2);
  EXPECT_NE(said().find("1 more checkpoint there at once"), std::string::npos) << said();
  EXPECT_TRUE(fs::exists(out + "/step-00000004/complete.json"));
}

}  // namespace
}  // namespace fourhold

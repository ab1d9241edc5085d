#include "fourhold/base/text_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold {
namespace {

std::string fault_of(const std::string& path, std::int64_t most_bytes) {
  try {
    (void)read_text_file(path, most_bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), path);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(TextFile, GivesEveryByteUpToTheLimit) {
  const std::string path = testing::TempDir() + "/fourhold_text_file_test";
  const std::string text = std::string("a\0b\r\n", 5) + std::string(100000, 'x');
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_text_file(path, 100005), text);
  EXPECT_EQ(fault_of(path, 100004), "is larger than 100004 bytes");
  std::filesystem::remove(path);
}

TEST(TextFile, AMissingFileAndAFolderAreToldApart) {
  EXPECT_EQ(fault_of("/nonexistent/file", 10), "does not exist");
  EXPECT_EQ(fault_of(std::filesystem::temp_directory_path().string(), 10), "is a folder");
}

TEST(TextFile, APipeIsNotWaitedFor) {
  const std::string path = testing::TempDir() + "/fourhold_text_file_pipe";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(fault_of(path, 10), "is not a regular file: it may never end, or never begin");
  std::filesystem::remove(path);
  EXPECT_EQ(fault_of("/dev/zero", 10), "is not a regular file: it may never end, or never begin");
}

}  // namespace
}  // namespace fourhold

#include "fourhold/engine/files/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "fourhold/base/error.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

using model::TestFolder;

std::string fault_of(const std::string& path) {
  try {
    const MappedFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), path);
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "accepted";
}

TEST(MappedFile, ShowsTheBytesOfAFileAndNoOthers) {
  const TestFolder folder;
  const MappedFile file(folder.write("a.bin", "abcdef"));
  EXPECT_EQ(file.bytes(), 6);
  EXPECT_EQ(file.text(), "abcdef");
  EXPECT_EQ(file.piece(2, 4).size(), 2U);
  EXPECT_EQ(static_cast<char>(file.piece(2, 4)[0]), 'c');
  EXPECT_THROW(static_cast<void>(file.piece(4, 7)), Error);
  EXPECT_EQ(MappedFile(folder.write("empty", "")).text(), "");
}

TEST(MappedFile, APipeIsRefusedAndNotWaitedFor) {
  const TestFolder folder;
  const std::string path = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(fault_of(path), "is a pipe: its bytes can be read once, and in order alone");
}

TEST(MappedFile, FoldersDevicesAndNothingAreRefusedAsThat) {
  const TestFolder folder;
  EXPECT_EQ(fault_of(folder.path()), "is a folder");
  EXPECT_EQ(fault_of("/dev/null"), "is a device, no regular file");
  EXPECT_EQ(fault_of(folder.path() + "/none"), "does not exist");
}

}  // namespace
}  // namespace fourhold::engine

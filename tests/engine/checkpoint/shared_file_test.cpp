#include "fourhold/engine/checkpoint/shared_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/file_writer.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

using model::TestFolder;

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

TEST(SharedFile, HoldsWhatTwoWritersHavePutIntoItsRows) {
  const TestFolder folder;
  create_shared_file(folder.path(), "file", 2 + 3 * 4, "H:");
  SharedFile left(folder.path(), "file", 14);
  SharedFile right(folder.path(), "file", 14);
  // Three rows of four: the first column, and three that stand five apart in memory.
  left.write_rows(
      2,
      {.data = bytes_of_text("aeiAEI").data(), .count = 3, .bytes = 1, .row_bytes = 1, .pitch = 4});
  right.write_rows(3, {.data = bytes_of_text("bcd--fgh--jkl").data(),
                       .count = 3,
                       .bytes = 3,
                       .row_bytes = 5,
                       .pitch = 4});
  WrittenBytes both = left.written();
  both += right.written();
  left.close();
  right.close();
  EXPECT_EQ(read_text_file(folder.path() + "/file", 100), "H:abcdefghijkl");
  WrittenBytes all;
  all.add(2, 14);
  EXPECT_EQ(both, all);
}

// 3 + 4 + 5 = 12; the same two bytes twice are as many as four, but not at their places.
TEST(WrittenBytes, TellRangesApartThatHaveTheSameLength) {
  WrittenBytes some;
  some.add(3, 6);
  EXPECT_EQ(some, (WrittenBytes{3, 12}));
  WrittenBytes whole;
  whole.add(0, 4);
  WrittenBytes twice;
  twice.add(0, 2);
  twice.add(0, 2);
  EXPECT_EQ(twice.count, whole.count);
  EXPECT_NE(twice, whole);
}

// 2^20 x (2^40 + 2^19) - 2^19 = 2^60 + 2^39 - 2^19, of which 2^52 are dropped 256 times.
TEST(WrittenBytes, PlacesOfLargeFilesWrapRound) {
  WrittenBytes far;
  far.add(std::int64_t{1} << 40, (std::int64_t{1} << 40) + (1 << 20));
  EXPECT_EQ(far.places, (std::int64_t{1} << 39) - (1 << 19));
}

TEST(SharedFile, OfAnotherSizeIsRefusedWithItsByte) {
  const TestFolder folder;
  create_shared_file(folder.path(), "file", 100, "");
  EXPECT_EQ(std::filesystem::file_size(folder.path() + "/file"), 100U);
  EXPECT_THROW(create_shared_file(folder.path(), "file", 100, ""), Error);
  try {
    const SharedFile file(folder.path(), "file", 120);
    FAIL() << "opened";
  } catch (const Error& fault) {
    EXPECT_EQ(std::string(fault.what()),
              "byte 100: the file ends here, rank 0 has made it 120 bytes long");
  }
}

// Blocks of 64 MiB: three ranks sum one each of a file of 140 MiB, as one writer sums all.
TEST(SharedFile, BlocksAreSummedByTheRankTheyAreDealtTo) {
  const TestFolder folder;
  constexpr std::int64_t kBytes = std::int64_t{140} << 20;
  FileWriter writer(folder.path(), "file", kBytes);
  std::string piece(1 << 20, '\0');
  for (int i = 0; i < 140; ++i) {
    piece[7] = static_cast<char>(i);
    writer.append(piece);
  }
  const FileSum whole = writer.close();
  ASSERT_EQ(whole.blocks.size(), 3U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    FileSum expected{"file", kBytes, {0, 0, 0}};
    expected.blocks[rank] = whole.blocks[rank];
    EXPECT_EQ(sum_blocks(folder.path(), "file", static_cast<std::int64_t>(rank), 3), expected);
  }
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/engine/train/event_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

// RFC 3720, appendix B.4: 32 bytes of zeros give aa 36 91 8a, 32 bytes of ones 43 ab a8 62, both as
// bytes in order.
TEST(EventFile, ItsChecksumIsCrc32c) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

std::string folder_of_test() {
  const auto folder = std::filesystem::temp_directory_path() / "fourhold_event_file_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// The framing of TensorFlow's records: 8 bytes of length, 4 of its checksum, the event, 4 of its.
TEST(EventFile, RecordsAreFramedAndHoldTagStepAndValue) {
  EventFile file(folder_of_test(), 7);
  const std::array scalars{ScalarEvent{"train/loss", 2.5}};
  file.add(7, scalars);
  std::ifstream in(file.path(), std::ios::binary);
  std::stringstream stream;
  stream << in.rdbuf();
  const std::string bytes = stream.str();
  std::size_t at = 0;
  std::string last;
  std::string start;
  int records = 0;
  while (at < bytes.size()) {
    const auto length = number_at<std::uint64_t>(bytes, at);
    const std::string header = bytes.substr(at, 8);
    const std::uint32_t crc = crc32c(header);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 8), ((crc >> 15) | (crc << 17)) + 0xa282ead8U);
    last = bytes.substr(at + 12, length);
    if (records == 1) start = last;
    at += 12 + length + 4;
    ++records;
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_EQ(records, 3);  // the version, the start and the step
  // Event: 8 bytes of time and its tag, field 2 the step; field 7, two bytes long: SessionLog,
  // whose field 1 is 1, START (tensorflow/core/util/event.proto).
  EXPECT_EQ(start.substr(9), (std::string{0x10, 7, 0x3a, 2, 0x08, 1}));
  EXPECT_EQ(static_cast<unsigned char>(last[9]), 0x10);  // field 2, a varint: the step
  EXPECT_EQ(last[10], 7);
  EXPECT_NE(last.find("train/loss"), std::string::npos);
  EXPECT_EQ(number_at<float>(last, last.size() - 4), 2.5F);
}

TEST(EventFile, AFolderThatIsNotThereIsNamed) {
  try {
    EventFile file("/nonexistent/folder", 1);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_NE(error.where().find("/nonexistent/folder/events"), std::string::npos);
  }
}

}  // namespace
}  // namespace fourhold::engine

// Safetensors files for tests, made from a header text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace fourhold::model {

// 8 bytes of length, the header, and that many bytes of data (or only their promise: see size
// below).
inline std::string header_bytes(const std::string& json) {
  std::string out;
  std::uint64_t length = json.size();
  for (int i = 0; i < 8; ++i) {
    out += static_cast<char>(length & 0xFFU);
    length >>= 8U;
  }
  return out + json;
}

inline std::string file_bytes(const std::string& json, std::size_t data_bytes) {
  return header_bytes(json) + std::string(data_bytes, '\0');
}

// A folder of its own that vanishes with the test.
class TestFolder {
 public:
  TestFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            (std::string("fourhold_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  // Writes a file and gives its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const {
    const std::string file = (path_ / name).string();
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace fourhold::model

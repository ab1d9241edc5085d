// Token files made by hand, byte by byte, as their formats are published.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fourhold::engine::data {

template <typename T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
  }
  return bytes;
}

template <typename T>
std::string little_endian(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) bytes += little_endian(value);
  return bytes;
}

// 256 int32: magic, version, count, zeros.
inline std::string llm_c_header(std::int32_t magic, std::int32_t version, std::int32_t count) {
  std::string header = little_endian(magic) + little_endian(version) + little_endian(count);
  header.resize(1024);
  return header;
}

// An index whose sequences lie one after another; `type` is Megatron's code, `width` its bytes.
inline std::string megatron_index(std::uint8_t type, std::int64_t width,
                                  const std::vector<std::int32_t>& lengths,
                                  const std::vector<std::int64_t>& boundaries) {
  std::string bytes("MMIDIDX\0\0", 9);
  bytes += little_endian(std::uint64_t{1}) + little_endian(type);
  bytes += little_endian(std::uint64_t{lengths.size()});
  bytes += little_endian(std::uint64_t{boundaries.size()});
  bytes += little_endian(lengths);
  std::int64_t pointer = 0;
  for (const std::int32_t length : lengths) {
    bytes += little_endian(pointer);
    pointer += length * width;
  }
  return bytes + little_endian(boundaries);
}

// A folder of its own for each test, removed after it.
class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("fourhold_data_") + test->test_suite_name() + "_" + test->name() + "_" +
               std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
               std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FolderTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      result.push_back(entry.path().filename().string());
    }
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace fourhold::engine::data

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

// Stands for a target: takes as many MiB of heap as its input has bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t size) {
  std::vector<std::vector<char>> held;
  for (std::size_t i = 0; i < size; ++i) held.emplace_back(1U << 20U);
  return 0;
}

// Called from here the linker's wrapper stands before the target only when the reference is to
// another object, hence the declaration by its wrapped name.
extern "C" int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT

namespace {

TEST(HeapLimit, an_input_below_the_limit_passes) {
  EXPECT_EQ(__wrap_LLVMFuzzerTestOneInput(nullptr, 60), 0);
  EXPECT_EQ(__wrap_LLVMFuzzerTestOneInput(nullptr, 60), 0);
}

TEST(HeapLimit, an_input_above_the_limit_ends_the_run) {
  EXPECT_DEATH(__wrap_LLVMFuzzerTestOneInput(nullptr, 65), "more than 64 MiB");
}

}  // namespace

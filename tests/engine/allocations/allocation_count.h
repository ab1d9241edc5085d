// Counts what the process asks the system for: every allocation goes through here, that of
// libraries too, because the definitions of this program come first (ELF symbol interposition).
#pragma once

#include <cstdint>

namespace fourhold::engine::testing {

struct AllocationCount {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int64_t largest = 0;  // bytes of one call
  std::int64_t above_limit = 0;
};

// Calls of more bytes than this are counted apart.
inline constexpr std::int64_t kAllocationLimit = std::int64_t{1} << 20;

// From start to stop every malloc, calloc, realloc, aligned allocation, operator new and mmap of
// all threads is counted.
void start_counting();
AllocationCount stop_counting();

}  // namespace fourhold::engine::testing

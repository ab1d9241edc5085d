#include "tests/engine/allocations/allocation_count.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

// The C library's own, under the names it exports for this purpose.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace fourhold::engine::testing {
namespace {

struct Counters {
  std::atomic<bool> counting{false};
  std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::int64_t> largest{0};
  std::atomic<std::int64_t> above_limit{0};
};
Counters counters;  // NOLINT(cppcoreguidelines-avoid-non-const-global-*)

void count(std::size_t size) {
  if (!counters.counting.load(std::memory_order_relaxed)) return;
  const auto bytes = static_cast<std::int64_t>(size);
  counters.calls += 1;
  counters.bytes += bytes;
  if (bytes > kAllocationLimit) counters.above_limit += 1;
  std::int64_t largest = counters.largest;
  while (bytes > largest && !counters.largest.compare_exchange_weak(largest, bytes)) {
  }
}

}  // namespace

void start_counting() {
  counters.calls = 0;
  counters.bytes = 0;
  counters.largest = 0;
  counters.above_limit = 0;
  counters.counting = true;
}

AllocationCount stop_counting() {
  counters.counting = false;
  return {counters.calls, counters.bytes, counters.largest, counters.above_limit};
}

}  // namespace fourhold::engine::testing

extern "C" {

void* malloc(std::size_t bytes) noexcept {
  fourhold::engine::testing::count(bytes);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  fourhold::engine::testing::count(count * bytes);
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) noexcept {
  fourhold::engine::testing::count(bytes);
  return __libc_realloc(block, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  fourhold::engine::testing::count(bytes);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  fourhold::engine::testing::count(bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  fourhold::engine::testing::count(bytes);
  void* const made = __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  fourhold::engine::testing::count(bytes);
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
void* mmap64(void* address, std::size_t bytes, int protection, int flags, int file,
             off64_t offset) noexcept {
  return mmap(address, bytes, protection, flags, file, offset);
}
}

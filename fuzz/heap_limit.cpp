// Ends the run when one input takes more than 64 MiB of heap: the bound every reader promises for
// inputs under 1 MiB.
//
// The linker passes every call of the target through __wrap_LLVMFuzzerTestOneInput (--wrap in
// CMakeLists.txt), so targets are written as libFuzzer documents them. Live bytes are counted by
// replacing operator new; a single large allocation is refused by libFuzzer's malloc_limit_mb too.
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

constexpr std::int64_t kLimitBytes = 64LL << 20;

// Constant-initialised: other globals allocate before main.
std::atomic<std::int64_t> live_bytes{0};    // NOLINT(*-avoid-non-const-global-variables)
std::atomic<std::int64_t> limit_bytes{-1};  // NOLINT(*-avoid-non-const-global-variables)

void* allocate(std::size_t size) noexcept {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) return nullptr;
  const auto usable = static_cast<std::int64_t>(malloc_usable_size(memory));
  const std::int64_t live = live_bytes.fetch_add(usable) + usable;
  const std::int64_t limit = limit_bytes.load();
  if (limit >= 0 && live > limit) {
    limit_bytes = -1;
    std::fputs("heap limit: this input takes more than 64 MiB\n", stderr);
    std::abort();
  }
  return memory;
}

void* allocate_or_throw(std::size_t size) {
  void* memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
// std::stable_sort and libFuzzer ask for memory that may be refused.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { release(memory); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

extern "C" int __real_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT

extern "C" int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data,  // NOLINT
                                             std::size_t size) {
  limit_bytes = live_bytes.load() + kLimitBytes;
  const int result = __real_LLVMFuzzerTestOneInput(data, size);
  limit_bytes = -1;
  return result;
}

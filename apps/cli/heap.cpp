#include "apps/cli/heap.h"

#include <cstdint>
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace fourhold::cli {

#if defined(__GLIBC__)
namespace {

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
constexpr int kHeapBytes = 32 << 20;  // address space; pages come when they are touched

// Where glibc's heap ends now. Another allocator (a sanitizer's) leaves it where it is.
char* end_of_heap() { return static_cast<char*>(sbrk(0)); }

// Bytes from an address to the next huge page, all of one where it is at one.
std::uintptr_t to_next_page(const char* address) {
  return kHugePage - reinterpret_cast<std::uintptr_t>(address) % kHugePage;
}

// volatile: an allocation that nobody reads would be left out.
void* allocate(std::size_t bytes) {
  void* volatile block = std::malloc(bytes);
  return block;
}

}  // namespace

void prepare_heap() {
  mallopt(M_TOP_PAD, kHeapBytes);
  mallopt(M_TRIM_THRESHOLD, kHeapBytes);  // what is freed will be used again
  mallopt(M_MMAP_THRESHOLD, kHeapBytes / 2);
  char* const before = end_of_heap();
  std::free(allocate(std::size_t{256} << 10));  // more than there is: the heap grows
  const auto grown = static_cast<std::uintptr_t>(end_of_heap() - before);
  if (grown < 2 * kHugePage) return;
  char* const begin = before + to_next_page(before);
  const std::uintptr_t whole_pages = (grown - to_next_page(before)) / kHugePage * kHugePage;
  // Only advice: where it is not taken, pages stay small.
  static_cast<void>(madvise(begin, whole_pages, MADV_HUGEPAGE));
  // What is allocated from now on starts on a huge page: the rest before it is taken, untouched.
  const auto* const next = static_cast<const char*>(allocate(1));
  if (next < begin) static_cast<void>(allocate(static_cast<std::size_t>(begin - next) - 64));
}
#else
void prepare_heap() {}
#endif

}  // namespace fourhold::cli

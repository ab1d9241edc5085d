#include "fourhold/engine/arena/arena.h"

#include <sys/mman.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/threads/parallel.h"

namespace fourhold::engine {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
constexpr std::int64_t kPage = 4096;  // the smallest there is on what we run on

constexpr std::int64_t round_up(std::int64_t bytes, std::int64_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

Arena::Arena(std::int64_t bytes, int threads) : bytes_(bytes) {
  assert(bytes >= 0 && "a size is not negative");
  if (bytes == 0) return;
  mapped_bytes_ = round_up(bytes, kHugePage);
  // One huge page more, so that the arena can start on a boundary; what is over goes back.
  const auto wanted = static_cast<std::size_t>(mapped_bytes_ + kHugePage);
  void* const mapped =
      mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Error("arena",
                "the system does not give " + format_bytes(Bytes(bytes)) +
                    " of memory: " + std::strerror(errno),
                "a smaller --batch, --recompute full, or a machine with more memory");
  }
  auto* const start = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const auto page = static_cast<std::uintptr_t>(kHugePage);
  const std::uintptr_t before = (page - address % page) % page;
  data_ = start + before;
  const std::size_t after = static_cast<std::size_t>(page - before);
  if (before > 0) munmap(start, before);
  munmap(data_ + mapped_bytes_, after);
  // Only advice: without it pages are small and the run is the same.
  static_cast<void>(madvise(data_, static_cast<std::size_t>(mapped_bytes_), MADV_HUGEPAGE));
  parallel_for(round_up(bytes, kPage) / kPage, threads, [&](const Share& share) {
    for (std::int64_t i = share.begin; i < share.end; ++i) data_[i * kPage] = std::byte{0};
  });
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}

Arena::~Arena() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(mapped_bytes_));
}

std::byte* Arena::at(std::int64_t offset) const {
  assert(offset >= 0 && offset <= bytes_ && "an offset lies in the arena");
  return data_ + offset;
}

}  // namespace fourhold::engine

#include "fourhold/engine/checkpoint/block_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace fourhold::engine {
namespace {

constexpr std::size_t kMostBlockBytes = 8 << 20;
// What O_DIRECT asks of addresses, offsets and sizes: the largest logical block of usual disks.
constexpr std::size_t kAlignment = 4096;

std::size_t aligned_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Whether the file was one that is written around the page cache; it is not any more.
bool stop_direct(int file) {
  const int flags = ::fcntl(file, F_GETFL);
  if (flags < 0 || (flags & O_DIRECT) == 0) return false;
  return ::fcntl(file, F_SETFL, flags & ~O_DIRECT) == 0;
}

// 0, or the errno of what went wrong.
int write_whole(int file, const std::byte* from, std::size_t bytes, std::int64_t offset) {
  if (bytes % kAlignment != 0) (void)stop_direct(file);  // the end of a file
  while (bytes > 0) {
    const ssize_t count = ::pwrite(file, from, bytes, offset);
    if (count < 0 && errno == EINTR) continue;
    // A file system that opens such files and does not write them, or a write cut short.
    if (count < 0 && errno == EINVAL && stop_direct(file)) continue;
    if (count < 0) return errno;
    from += count;
    offset += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

void BlockStream::Free::operator()(std::byte* bytes) const { std::free(bytes); }

BlockStream::Block BlockStream::allocate(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return Block(memory);
}

BlockStream::BlockStream(int file, std::int64_t bytes)
    : file_(file),
      block_bytes_(
          std::clamp(aligned_up(static_cast<std::size_t>(bytes)), kAlignment, kMostBlockBytes)),
      filling_(allocate(block_bytes_)) {}

BlockStream::~BlockStream() {
  if (write_.valid()) write_.wait();  // it reads a block of ours
}

int BlockStream::wait() { return write_.valid() ? write_.get() : 0; }

int BlockStream::hand_over(std::size_t bytes) {
  if (const int fault = wait(); fault != 0) return fault;
  if (!on_its_way_) on_its_way_ = allocate(block_bytes_);
  std::swap(filling_, on_its_way_);
  write_ = std::async(std::launch::async, write_whole, file_, on_its_way_.get(), bytes, offset_);
  offset_ += static_cast<std::int64_t>(bytes);
  filled_ = 0;
  return 0;
}

int BlockStream::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), block_bytes_ - filled_);
    std::memcpy(filling_.get() + filled_, bytes.data(), size);
    filled_ += size;
    bytes = bytes.subspan(size);
    if (filled_ < block_bytes_) continue;
    if (const int fault = hand_over(filled_); fault != 0) return fault;
  }
  return 0;
}

int BlockStream::finish() {
  if (const int fault = wait(); fault != 0) return fault;
  const int fault = write_whole(file_, filling_.get(), filled_, offset_);
  offset_ += static_cast<std::int64_t>(filled_);
  filled_ = 0;
  return fault;
}

}  // namespace fourhold::engine

// Hands a file's bytes to the disk in large blocks: while one is on its way, the next is filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <utility>

namespace fourhold::engine {

class BlockStream {
 public:
  // `file` stays the caller's, is empty, and is written around the page cache where it was opened
  // with O_DIRECT: a checkpoint would fill that cache with bytes nobody reads, and pages for it
  // must first be found. `bytes` is how long the file becomes.
  BlockStream(int file, std::int64_t bytes);
  ~BlockStream();
  BlockStream(const BlockStream&) = delete;
  BlockStream& operator=(const BlockStream&) = delete;

  // Both give 0, or the errno of a write that failed.
  [[nodiscard]] int append(std::span<const std::byte> bytes);
  // Hands over what is left. The disk need not have it yet.
  [[nodiscard]] int finish();

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  using Block = std::unique_ptr<std::byte, Free>;

  [[nodiscard]] static Block allocate(std::size_t bytes);
  [[nodiscard]] int wait();
  [[nodiscard]] int hand_over(std::size_t bytes);

  int file_;
  std::size_t block_bytes_;
  Block filling_;
  Block on_its_way_;
  std::size_t filled_ = 0;
  std::int64_t offset_ = 0;  // of the block that is being filled
  std::future<int> write_;
};

}  // namespace fourhold::engine

// One piece of memory of a known size: all that a rank's tensors ever lie in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fourhold::engine {

// Reserved, and every page touched, before training starts: a run that cannot have its memory ends
// here and not in the middle of a step, and the first step is not slowed by page faults. Pages are
// huge where the system offers them on advice.
class Arena {
 public:
  // `threads` touch the pages, each those it is likeliest to work on. Throws Error when the system
  // does not give the memory. Nothing is reserved for 0 bytes.
  Arena(std::int64_t bytes, int threads);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // The byte at an offset. Aligned to a page at 0.
  [[nodiscard]] std::byte* at(std::int64_t offset) const;

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t mapped_bytes_ = 0;  // whole huge pages
};

}  // namespace fourhold::engine

// A file seen as memory, read page by page as it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fourhold::engine {

// The file must keep its size while it is mapped: a page that another program cuts off while it is
// read ends the process (SIGBUS), as for every mapped file.
class MappedFile {
 public:
  // Error naming the path when it is missing, no regular file, or cannot be mapped.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // Bytes [begin, end). Error when they reach past the end of the file.
  [[nodiscard]] std::span<const std::byte> piece(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] std::string_view text() const;

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace fourhold::engine

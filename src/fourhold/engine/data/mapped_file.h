// A file's bytes as read-only memory: they are read from disk when they are touched.
#pragma once

#include <string>
#include <string_view>

namespace fourhold::engine::data {

class MappedFile {
 public:
  // Error when the file is missing, is no regular file, or cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Valid while this object or one it was moved to lives. Whoever shortens the file meanwhile ends
  // the process, as with every memory map.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace fourhold::engine::data

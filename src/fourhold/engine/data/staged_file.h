// A file that stands under its name only when it is complete.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fourhold::engine::data {

// Bytes go to `PATH.partial`; publish() renames it. Without publish(), because of an Error or a
// killed process, nothing stands under PATH; the partial file is removed where that is possible,
// and overwritten by the next try. Errors name the path, and say so when the disk is full.
class StagedFile {
 public:
  explicit StagedFile(std::string path);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  void write(std::string_view bytes);
  // Over bytes written before.
  void write_at(std::int64_t offset, std::string_view bytes);

  // Everything is on disk after this; only the name is missing.
  void sync();
  // After sync().
  void publish();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void flush();
  void write_all(std::string_view bytes, std::int64_t offset);
  [[noreturn]] void fail(const std::string& what, int code) const;

  std::string path_;
  std::string partial_;
  int file_ = -1;
  std::string buffer_;
  std::int64_t bytes_ = 0;
  bool published_ = false;
};

}  // namespace fourhold::engine::data

// One new file that several ranks write, each its own places of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fourhold/engine/checkpoint/file_sum.h"

namespace fourhold::engine {

// Creates the file, which must not exist, at its full size with `header` in front, and reserves its
// space where the file system can. Errors as FileWriter.
void create_shared_file(const std::string& folder, const std::string& name, std::int64_t bytes,
                        std::string_view header);

// Which bytes of a file have been written, as far as two numbers tell: ranks whose bytes and places
// add up to those of a range have written every byte of it once.
struct WrittenBytes {
  std::int64_t count = 0;
  std::int64_t places = 0;  // the sum of their offsets, modulo 2^52

  void add(std::int64_t begin, std::int64_t end);
  WrittenBytes& operator+=(const WrittenBytes& other);
  friend constexpr bool operator==(const WrittenBytes&, const WrittenBytes&) = default;
};

class SharedFile {
 public:
  // Opens what create_shared_file has made. Error when it is not there, or of another size.
  SharedFile(const std::string& folder, const std::string& name, std::int64_t bytes);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  // Rows of `bytes`, that stand `row_bytes` apart in memory and `pitch` apart in the file. Rows
  // that touch in both are one write; others are one write each, as ranks' columns interleave.
  struct Rows {
    const std::byte* data = nullptr;
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::int64_t row_bytes = 0;
    std::int64_t pitch = 0;
  };
  void write_rows(std::int64_t offset, const Rows& rows);
  // By this rank.
  [[nodiscard]] const WrittenBytes& written() const { return written_; }
  // Waits until the disk has them.
  void close();

 private:
  void start_writing();

  std::string path_;
  std::int64_t bytes_ = 0;
  WrittenBytes written_;
  std::int64_t on_its_way_ = 0;  // of these bytes, to the disk
  std::int64_t lowest_ = 0;      // place written since
  std::int64_t highest_ = 0;
  int file_ = -1;
};

// Sums of every `ranks`-th block of a file, the first of them block `first`, read back; 0 for the
// others.
[[nodiscard]] FileSum sum_blocks(const std::string& folder, const std::string& name,
                                 std::int64_t first, std::int64_t ranks);

}  // namespace fourhold::engine

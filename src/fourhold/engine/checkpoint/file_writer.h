// Writes one new file from front to back, so that when close() returns it is on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fourhold/engine/checkpoint/block_stream.h"
#include "fourhold/engine/checkpoint/file_sum.h"

namespace fourhold::engine {

class FileWriter {
 public:
  // Creates the file, which must not exist, and reserves its space where the file system can: a
  // full disk is found before anything is written. Every Error names the file, what it needs and
  // what the disk has left.
  FileWriter(const std::string& folder, std::string name, std::int64_t bytes);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text);
  // Bytes appended so far; of these, up to two blocks are not written yet.
  [[nodiscard]] std::int64_t written() const { return written_; }
  // Writes what is left, waits until the disk has it, and gives the file's sums. The file must have
  // become as long as was said.
  [[nodiscard]] FileSum close();

 private:
  void open();
  void reserve() const;
  [[noreturn]] void fail(std::string_view action, int fault) const;

  std::string path_;
  std::string name_;
  std::int64_t expected_ = 0;
  std::int64_t written_ = 0;
  int file_ = -1;
  BlockSums sums_;
  std::optional<BlockStream> stream_;
};

// A small text as a whole file.
[[nodiscard]] FileSum write_new_file(const std::string& folder, const std::string& name,
                                     std::string_view text);

// Waits until the names in a folder are on the disk.
void sync_folder(const std::string& folder);
// Renames and waits until the disk has it. Both are in one folder.
void rename_and_sync(const std::string& from, const std::string& to);

}  // namespace fourhold::engine

// What is said when a file cannot be written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fourhold::engine {

// A file on its way to the disk.
struct FileProgress {
  const std::string& path;
  std::int64_t needed = 0;   // bytes
  std::int64_t written = 0;  // of these
};

// Whether an errno means "no room": the disk, a quota or a limit of the process.
[[nodiscard]] bool is_full(int fault);

// Throws the Error for an errno: of a full disk with what the file needs and what is free.
[[noreturn]] void throw_write_fault(const FileProgress& file, std::string_view action, int fault);

}  // namespace fourhold::engine

// Whole text files: configs, device files, indexes.
#pragma once

#include <cstdint>
#include <string>

namespace fourhold {

// The file's bytes. Error naming the path when it is missing, is a folder, cannot be read, or is
// larger than `most_bytes` (a wrong file is refused before it fills the memory).
[[nodiscard]] std::string read_text_file(const std::string& path, std::int64_t most_bytes);

}  // namespace fourhold

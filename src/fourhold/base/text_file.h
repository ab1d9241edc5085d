// Whole text files: configs, device files, indexes.
#pragma once

#include <cstdint>
#include <string>

namespace fourhold {

// Error naming the path when something stands there that is no regular file: a folder, a pipe or a
// device, which might be waited for for ever. Standard input (/dev/stdin) and what a shell hands
// over (/dev/fd) are read all the same. Nothing there is no fault yet.
void refuse_what_is_no_file(const std::string& path);

// The file's bytes. Error as above, when it is missing, cannot be read, or is
// larger than `most_bytes` (a wrong file is refused before it fills the memory).
[[nodiscard]] std::string read_text_file(const std::string& path, std::int64_t most_bytes);

}  // namespace fourhold

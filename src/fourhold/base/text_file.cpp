#include "fourhold/base/text_file.h"

#include <filesystem>
#include <fstream>
#include <ios>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold {

void refuse_what_is_no_file(const std::string& path) {
  std::error_code fault;
  const std::filesystem::file_status status = std::filesystem::status(path, fault);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  if (std::filesystem::is_directory(status)) throw Error(path, "is a folder", "name a file in it");
  // What the shell hands over is meant: standard input and <(...).
  for (const std::string_view handed : {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"}) {
    if (std::string_view(path).substr(0, handed.size()) == handed) return;
  }
  throw Error(path, "is not a regular file: it may never end, or never begin",
              "name a file, or read it from /dev/stdin");
}

std::string read_text_file(const std::string& path, std::int64_t most_bytes) {
  refuse_what_is_no_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::error_code fault;
    const bool present = std::filesystem::exists(path, fault);
    throw Error(path, present ? "cannot be opened" : "does not exist",
                present ? "check its permissions" : "check the path");
  }
  // Read in pieces instead of asking for the size: pipes have none.
  constexpr std::int64_t kPiece = 1 << 16;
  std::string text;
  std::string piece(static_cast<std::size_t>(kPiece), '\0');
  while (file) {
    file.read(piece.data(), kPiece);
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (static_cast<std::int64_t>(text.size()) > most_bytes) {
      throw Error(path, fmt::format("is larger than {} bytes", most_bytes),
                  "this is not the kind of file that is read here");
    }
  }
  if (file.bad()) throw Error(path, "cannot be read", "check the file system");
  return text;
}

}  // namespace fourhold

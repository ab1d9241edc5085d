#include "fourhold/base/text_file.h"

#include <filesystem>
#include <fstream>
#include <ios>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold {

std::string read_text_file(const std::string& path, std::int64_t most_bytes) {
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault)) {
    throw Error(path, "is a folder", "name a file in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
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

#include "fourhold/engine/checkpoint/write_fault.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

std::string free_space(const std::string& path) {
  struct statvfs space {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::statvfs(folder.c_str(), &space) != 0) return "unknown space";
  return fmt::format("{} bytes", static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize);
}

}  // namespace

bool is_full(int fault) { return fault == ENOSPC || fault == EDQUOT || fault == EFBIG; }

void throw_write_fault(const FileProgress& file, std::string_view action, int fault) {
  if (is_full(fault)) {
    throw Error(
        file.path,
        fmt::format("needs {} bytes, of which {} are written: {}; {} are free", file.needed,
                    file.written, std::strerror(fault), free_space(file.path)),
        "free space there, or save to another disk; the checkpoints saved before are whole");
  }
  throw Error(file.path, fmt::format("{}: {}", action, std::strerror(fault)),
              "check the folder and its file system");
}

}  // namespace fourhold::engine

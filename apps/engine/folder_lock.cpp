#include "apps/engine/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fourhold/base/error.h"

namespace fourhold::engine_app {

FolderLock::FolderLock(const std::string& folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault && !std::filesystem::is_directory(folder)) {
    throw Error("--out", folder + " cannot be made: " + fault.message(),
                "name a folder that can be written to");
  }
  const std::string path = folder + "/.lock";
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw Error(path, std::string("cannot be written: ") + std::strerror(errno),
                "name a folder that can be written to with --out");
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  close(descriptor_);
  throw Error("--out", "another run is writing to " + folder,
              "wait for it, stop it, or name another folder");
}

FolderLock::~FolderLock() { close(descriptor_); }

}  // namespace fourhold::engine_app

#include "fourhold/engine/checkpoint/save_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/write_fault.h"

namespace fourhold::engine {
namespace {

std::string lock_path(const std::string& folder) {
  return (std::filesystem::path(folder) / kSaveLockName).string();
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// Whether the file that is open is still the one of this name.
bool is_at(int file, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

SaveLock::SaveLock(const std::string& folder) : token_(random_token()) {
  const std::string path = lock_path(folder);
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const int fault = file_ < 0 ? errno : 0;
  // A save that begins at the same moment may take this folder for a leftover and remove it.
  const bool taken =
      fault == EEXIST || fault == ENOENT ||
      (fault == 0 &&
       ((::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) || !is_at(file_, path)));
  if (!taken && fault == 0 &&
      ::write(file_, token_.data(), token_.size()) == static_cast<ssize_t>(token_.size())) {
    return;
  }
  const int why = fault == 0 ? errno : fault;
  if (file_ >= 0) {
    if (!taken) ::unlink(path.c_str());
    ::close(std::exchange(file_, -1));
  }
  if (taken) {
    throw Error(folder, "another run is saving this step here", "save to another folder");
  }
  throw_write_fault({path, static_cast<std::int64_t>(token_.size()), 0}, "cannot be created", why);
}

SaveLock::~SaveLock() {
  if (file_ >= 0) ::close(file_);
}

void SaveLock::release(const std::string& folder) {
  ::unlink(lock_path(folder).c_str());  // what stays is a small file without meaning
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

void SaveLock::require(const std::string& folder) const {
  if (!is_at(file_, lock_path(folder))) {
    throw Error(folder, "another run has taken this folder", "save to another folder");
  }
}

bool remove_unless_saving(const std::string& folder) {
  // Held while it removes: a save that begins now finds it taken, or gone.
  const int file = ::open(lock_path(folder).c_str(), O_RDWR | O_CLOEXEC);
  const bool held = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  std::error_code fault;
  if (!held) std::filesystem::remove_all(folder, fault);
  if (file >= 0) ::close(file);
  if (fault) {
    throw Error(folder, fmt::format("cannot be removed: {}", fault.message()),
                "check the folder and its file system");
  }
  return !held;
}

std::string find_token(const std::string& folder) {
  constexpr std::int64_t kMostBytes = 1000;
  try {
    return read_text_file(lock_path(folder), kMostBytes);
  } catch (const Error&) {
    throw Error(folder, "is not there as rank 0 has made it",
                "all ranks must see one file system: save to a folder that they share");
  }
}

}  // namespace fourhold::engine

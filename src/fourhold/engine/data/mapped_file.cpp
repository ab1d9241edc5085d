#include "fourhold/engine/data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"

namespace fourhold::engine::data {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, int code) {
  const bool missing = code == ENOENT;
  throw Error(path,
              missing ? "does not exist" : what + ": " + std::generic_category().message(code),
              missing ? "check the path" : "check its permissions and the file system");
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  refuse_what_is_no_file(path);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    const int code = S_ISREG(status.st_mode) ? errno : ESPIPE;
    ::close(file);
    fail(path, "cannot be mapped into memory", code);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > 0) {
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    const int code = errno;
    ::close(file);
    if (memory == MAP_FAILED) fail(path, "cannot be mapped into memory", code);
    bytes_ = {static_cast<const char*>(memory), size};
  } else {
    ::close(file);
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace fourhold::engine::data

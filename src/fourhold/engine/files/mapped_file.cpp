#include "fourhold/engine/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, int code) {
  const bool missing = code == ENOENT;
  throw Error(path, missing ? "does not exist" : fmt::format("{}: {}", what, std::strerror(code)),
              missing ? "check the path" : "check its permissions and the file system");
}

[[noreturn]] void refuse(const std::string& path, mode_t mode) {
  if (S_ISDIR(mode)) throw Error(path, "is a folder", "name a file in it");
  throw Error(path,
              S_ISFIFO(mode) ? "is a pipe: its bytes can be read once, and in order alone"
                             : "is a device, no regular file",
              "write the bytes to a file and name that");
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  // A pipe without a writer must not be waited for.
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(path_, "cannot be opened", errno);
  struct stat status {};
  void* address = nullptr;
  bool mapped = ::fstat(file, &status) == 0;
  if (mapped && !S_ISREG(status.st_mode)) {
    ::close(file);
    refuse(path_, status.st_mode);
  }
  if (mapped && status.st_size > 0) {
    address =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    mapped = address != MAP_FAILED;
  }
  const int fault = errno;
  ::close(file);
  if (!mapped) fail(path_, "cannot be mapped into memory", fault);
  data_ = static_cast<const std::byte*>(address);
  bytes_ = status.st_size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), static_cast<std::size_t>(bytes_));
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::span<const std::byte> MappedFile::piece(std::int64_t begin, std::int64_t end) const {
  if (begin < 0 || end < begin || end > bytes_) {
    throw Error(
        path_,
        fmt::format("byte {}: bytes up to {} are needed, the file has {}", begin, end, bytes_),
        "the file is cut short: fetch it again");
  }
  return {data_ + begin, static_cast<std::size_t>(end - begin)};
}

std::string_view MappedFile::text() const {
  return {reinterpret_cast<const char*>(data_), static_cast<std::size_t>(bytes_)};
}

}  // namespace fourhold::engine

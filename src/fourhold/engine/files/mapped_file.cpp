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
#include "fourhold/base/text_file.h"

namespace fourhold::engine {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, int code) {
  const bool missing = code == ENOENT;
  throw Error(path, missing ? "does not exist" : fmt::format("{}: {}", what, std::strerror(code)),
              missing ? "check the path" : "check its permissions and the file system");
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  refuse_what_is_no_file(path_);
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path_, "cannot be opened", errno);
  struct stat status {};
  void* address = nullptr;
  bool mapped = ::fstat(file, &status) == 0;
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

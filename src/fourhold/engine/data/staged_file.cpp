#include "fourhold/engine/data/staged_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fourhold/base/error.h"

namespace fourhold::engine::data {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

// A rename is on disk when the folder is.
void sync_folder(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;  // a folder that can be written to but not read: nothing more can be done
  ::fsync(file);
  ::close(file);
}

}  // namespace

StagedFile::StagedFile(std::string path) : path_(std::move(path)), partial_(path_ + ".partial") {
  file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail("cannot be made", errno);
}

StagedFile::~StagedFile() {
  if (file_ >= 0) ::close(file_);
  if (!published_) ::unlink(partial_.c_str());
}

void StagedFile::write(std::string_view bytes) {
  buffer_ += bytes;
  bytes_ += static_cast<std::int64_t>(bytes.size());
  if (buffer_.size() >= kBufferBytes) flush();
}

void StagedFile::write_at(std::int64_t offset, std::string_view bytes) {
  flush();
  assert(offset + static_cast<std::int64_t>(bytes.size()) <= bytes_);
  write_all(bytes, offset);
}

void StagedFile::sync() {
  flush();
  if (::fsync(file_) != 0) fail("cannot be written", errno);
}

void StagedFile::publish() {
  assert(buffer_.empty() && "synced before");
  const int closed = ::close(std::exchange(file_, -1));
  if (closed != 0) fail("cannot be written", errno);
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail("cannot be renamed", errno);
  published_ = true;
  sync_folder(path_);
}

void StagedFile::flush() {
  write_all(buffer_, bytes_ - static_cast<std::int64_t>(buffer_.size()));
  buffer_.clear();
}

void StagedFile::write_all(std::string_view bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot be written", written < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
}

void StagedFile::fail(const std::string& what, int code) const {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  throw Error(path_, what + ": " + std::generic_category().message(code),
              full ? "make room, or write to another disk; nothing was left under " + path_
                   : "check the folder and its permissions");
}

}  // namespace fourhold::engine::data

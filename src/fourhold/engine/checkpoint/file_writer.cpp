#include "fourhold/engine/checkpoint/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/write_fault.h"

namespace fourhold::engine {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::int64_t kWriteBytes = 16 << 20;

}  // namespace

FileWriter::FileWriter(const std::string& folder, std::string name, std::int64_t bytes)
    : path_((std::filesystem::path(folder) / name).string()),
      name_(std::move(name)),
      expected_(bytes) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) fail("cannot be created", errno);
  buffer_.reserve(kBufferBytes);
  try {
    reserve();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

FileWriter::~FileWriter() {
  if (file_ >= 0) ::close(file_);
}

void FileWriter::fail(std::string_view action, int fault) const {
  throw_write_fault({path_, expected_, written_}, action, fault);
}

void FileWriter::reserve() const {
  if (expected_ == 0) return;
  while (::fallocate(file_, FALLOC_FL_KEEP_SIZE, 0, expected_) != 0) {
    if (errno == EINTR) continue;
    if (is_full(errno)) fail("cannot be reserved", errno);
    return;  // this file system reserves nothing
  }
}

void FileWriter::write_out(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {  // in pieces that are still in the cache when they are written
    const ssize_t count = ::write(file_, bytes.data(), std::min(bytes.size(), kBufferBytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot be written", errno);
    sums_.add(bytes.first(static_cast<std::size_t>(count)));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    handed_over_ += count;
    start_writing();
  }
}

// The disk works while the next bytes are made, and not only in close().
void FileWriter::start_writing() {
  if (handed_over_ - on_its_way_ < kWriteBytes) return;
  // A hint: what it does not do, fsync does.
  (void)::sync_file_range(file_, on_its_way_, handed_over_ - on_its_way_, SYNC_FILE_RANGE_WRITE);
  on_its_way_ = handed_over_;
}

void FileWriter::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void FileWriter::append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() > kBufferBytes) {
    write_out(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  written_ += static_cast<std::int64_t>(bytes.size());
}

void FileWriter::append(std::string_view text) {
  append(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

FileSum FileWriter::close() {
  flush();
  assert(written_ == expected_ && "a file becomes as long as was said");
  if (::fsync(file_) != 0) fail("cannot be synced", errno);
  const int closed = ::close(std::exchange(file_, -1));
  if (closed != 0) fail("cannot be closed", errno);
  return {name_, written_, sums_.take()};
}

FileSum write_new_file(const std::string& folder, const std::string& name, std::string_view text) {
  FileWriter file(folder, name, static_cast<std::int64_t>(text.size()));
  file.append(text);
  return file.close();
}

void sync_folder(const std::string& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = handle >= 0 && ::fsync(handle) == 0;
  const int fault = errno;
  if (handle >= 0) ::close(handle);
  if (!synced) {
    throw Error(folder, fmt::format("cannot be synced: {}", std::strerror(fault)),
                "check the folder and its file system");
  }
}

void rename_and_sync(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    throw Error(from, fmt::format("cannot be renamed to {}: {}", to, std::strerror(errno)),
                "check the folder and its file system");
  }
  sync_folder(std::filesystem::path(to).parent_path().string());
}

}  // namespace fourhold::engine

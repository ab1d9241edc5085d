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

// Small enough to be copied from the cache after they were summed.
constexpr std::size_t kPieceBytes = 1 << 20;
// Below this a file is not worth a way around the page cache.
constexpr std::int64_t kDirectBytes = 1 << 20;

}  // namespace

FileWriter::FileWriter(const std::string& folder, std::string name, std::int64_t bytes)
    : path_((std::filesystem::path(folder) / name).string()),
      name_(std::move(name)),
      expected_(bytes) {
  open();
  try {
    reserve();
    stream_.emplace(file_, expected_);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

void FileWriter::open() {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  if (expected_ >= kDirectBytes) file_ = ::open(path_.c_str(), kNew | O_DIRECT, 0666);
  // A file system without O_DIRECT may have made the file before it said so.
  if (file_ < 0 && expected_ >= kDirectBytes && errno == EINVAL) ::unlink(path_.c_str());
  if (file_ < 0) file_ = ::open(path_.c_str(), kNew, 0666);
  if (file_ < 0) fail("cannot be created", errno);
}

FileWriter::~FileWriter() {
  stream_.reset();  // its last block is written to the file
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

void FileWriter::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    sums_.add(piece);
    if (const int fault = stream_->append(piece); fault != 0) fail("cannot be written", fault);
    written_ += static_cast<std::int64_t>(piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

void FileWriter::append(std::string_view text) {
  append(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

FileSum FileWriter::close() {
  assert(written_ == expected_ && "a file becomes as long as was said");
  if (const int fault = stream_->finish(); fault != 0) fail("cannot be written", fault);
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

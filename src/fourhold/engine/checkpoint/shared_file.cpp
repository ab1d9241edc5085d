#include "fourhold/engine/checkpoint/shared_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/write_fault.h"

namespace fourhold::engine {
namespace {

constexpr std::int64_t kWriteBytes = 16 << 20;
constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::int64_t kModulo = std::int64_t{1} << 52;  // JSON's numbers hold it

// Closes what is still open when an Error passes.
class Handle {
 public:
  explicit Handle(int file) : file_(file) {}
  ~Handle() {
    if (file_ >= 0) ::close(file_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] int get() const { return file_; }
  [[nodiscard]] int release() { return std::exchange(file_, -1); }

 private:
  int file_;
};

// 0, or the errno of what went wrong.
int write_all(int file, std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return 0;
}

// Makes the file as long as it will be, with its space reserved where the file system can.
int reserve(int file, std::int64_t bytes) {
  while (::fallocate(file, 0, 0, bytes) != 0) {
    if (errno == EINTR) continue;
    if (is_full(errno)) return errno;
    return ::ftruncate(file, bytes) == 0 ? 0 : errno;
  }
  return 0;
}

}  // namespace

void create_shared_file(const std::string& folder, const std::string& name, std::int64_t bytes,
                        std::string_view header) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  const FileProgress progress{path, bytes, 0};
  Handle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) throw_write_fault(progress, "cannot be created", errno);
  if (const int fault = reserve(file.get(), bytes); fault != 0) {
    throw_write_fault(progress, "cannot be reserved", fault);
  }
  const auto text = std::as_bytes(std::span<const char>(header.data(), header.size()));
  if (const int fault = write_all(file.get(), 0, text); fault != 0) {
    throw_write_fault(progress, "cannot be written", fault);
  }
  // It must be on the disk even where no other rank writes to this file from this machine.
  if (::fsync(file.get()) != 0) throw_write_fault(progress, "cannot be synced", errno);
  if (::close(file.release()) != 0) throw_write_fault(progress, "cannot be closed", errno);
}

void WrittenBytes::add(std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::uint64_t>(end - begin);
  const auto first = static_cast<std::uint64_t>(begin);
  // What overflows is a multiple of the modulus.
  const std::uint64_t pairs = size % 2 == 0 ? size / 2 * (size - 1) : (size - 1) / 2 * size;
  const std::uint64_t sum = static_cast<std::uint64_t>(places) + size * first + pairs;
  count += end - begin;
  places = static_cast<std::int64_t>(sum % std::uint64_t{kModulo});
}

WrittenBytes& WrittenBytes::operator+=(const WrittenBytes& other) {
  count += other.count;
  places = (places + other.places) % kModulo;
  return *this;
}

SharedFile::SharedFile(const std::string& folder, const std::string& name, std::int64_t bytes)
    : path_((std::filesystem::path(folder) / name).string()), bytes_(bytes) {
  Handle file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat found {};
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0) {
    throw Error(path_, fmt::format("cannot be opened: {}", std::strerror(errno)),
                "all ranks must see one file system: save to a folder that they share");
  }
  if (found.st_size != bytes_) {
    throw Error(path_,
                fmt::format("byte {}: the file ends here, rank 0 has made it {} bytes long",
                            found.st_size, bytes_),
                "something else changes this folder, or the ranks do not see one file system");
  }
  file_ = file.release();
}

SharedFile::~SharedFile() {
  if (file_ >= 0) ::close(file_);
}

void SharedFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  assert(offset >= 0 && offset + size <= bytes_);
  if (const int fault = write_all(file_, offset, bytes); fault != 0) {
    throw_write_fault({path_, bytes_, written_.count}, "cannot be written", fault);
  }
  lowest_ = written_.count == on_its_way_ ? offset : std::min(lowest_, offset);
  highest_ = written_.count == on_its_way_ ? offset + size : std::max(highest_, offset + size);
  written_.add(offset, offset + size);
  start_writing();
}

void SharedFile::write_rows(std::int64_t offset, const Rows& rows) {
  if (rows.row_bytes == rows.bytes && rows.pitch == rows.bytes) {
    const std::span<const std::byte> all(rows.data,
                                         static_cast<std::size_t>(rows.count * rows.bytes));
    for (std::int64_t at = 0; at < rows.count * rows.bytes; at += kWriteBytes) {
      const std::int64_t size = std::min(kWriteBytes, rows.count * rows.bytes - at);
      write_at(offset + at,
               all.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    }
    return;
  }
  for (std::int64_t row = 0; row < rows.count; ++row) {
    write_at(offset + row * rows.pitch,
             {rows.data + row * rows.row_bytes, static_cast<std::size_t>(rows.bytes)});
  }
}

// The disk works while the next bytes are made, and not only in close().
void SharedFile::start_writing() {
  if (written_.count - on_its_way_ < kWriteBytes) return;
  // A hint: what it does not do, fsync does.
  (void)::sync_file_range(file_, lowest_, highest_ - lowest_, SYNC_FILE_RANGE_WRITE);
  on_its_way_ = written_.count;
}

void SharedFile::close() {
  const FileProgress progress{path_, bytes_, written_.count};
  if (written_.count > 0 && ::fsync(file_) != 0) {
    throw_write_fault(progress, "cannot be synced", errno);
  }
  const int closed = ::close(std::exchange(file_, -1));
  if (closed != 0) throw_write_fault(progress, "cannot be closed", errno);
}

FileSum sum_blocks(const std::string& folder, const std::string& name, std::int64_t first,
                   std::int64_t ranks) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  const auto fail = [&](std::string_view what) {
    throw Error(path, fmt::format("{}: {}", what, std::strerror(errno)),
                "check the folder and its file system");
  };
  const Handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0) fail("cannot be opened");
  FileSum sum{name, found.st_size, {}};
  sum.blocks.resize(static_cast<std::size_t>(ceil_divide(sum.bytes, kSumBlockBytes)));
  std::vector<std::byte> buffer(kReadBytes);
  for (auto block = static_cast<std::size_t>(first); block < sum.blocks.size();
       block += static_cast<std::size_t>(ranks)) {
    BlockSums sums;
    const std::int64_t begin = static_cast<std::int64_t>(block) * kSumBlockBytes;
    const std::int64_t end = std::min(begin + kSumBlockBytes, sum.bytes);
    for (std::int64_t at = begin; at < end;) {
      const std::size_t wanted = std::min(kReadBytes, static_cast<std::size_t>(end - at));
      const ssize_t count = ::pread(file.get(), buffer.data(), wanted, at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail("cannot be read back");
      sums.add({buffer.data(), static_cast<std::size_t>(count)});
      at += count;
    }
    sum.blocks[block] = sums.take().front();
  }
  return sum;
}

}  // namespace fourhold::engine

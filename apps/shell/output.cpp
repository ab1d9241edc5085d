#include "apps/shell/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fourhold/base/error.h"

namespace fourhold::shell {
namespace {

// 0, or the number of the error.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

[[noreturn]] void refuse_file(const std::string& path, int fault) {
  throw Error(path, std::string("cannot be written: ") + std::strerror(fault),
              fault == ENOENT   ? "make its folder first, or name a file in one that is there"
              : fault == ENOSPC ? "make room, or name a file elsewhere"
                                : "name a file in a folder that can be written to");
}

// Interrupts wait while a temporary file is about, so that none is left behind.
class InterruptsBlocked {
 public:
  InterruptsBlocked() {
    sigset_t signals{};
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before_);
  }
  ~InterruptsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;

 private:
  sigset_t before_{};
};

int write_directly(const std::string& path, std::string_view content) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  int fault = write_all(descriptor, content);
  if (close(descriptor) != 0 && fault == 0) fault = errno;
  return fault;
}

bool is_standard_output(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

// What a path names behind its links, so that a link stays one; the path where there is nothing.
std::string file_behind(const std::string& path) {
  std::error_code fault;
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, fault);
  return fault ? path : file.string();
}

int write_and_rename(const std::string& path, std::string_view content) {
  const InterruptsBlocked blocked;
  std::string beside = path + ".XXXXXX";
  const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor < 0) return errno;
  const mode_t mask = umask(0);
  umask(mask);
  int fault = fchmod(descriptor, 0666 & ~mask) == 0 ? 0 : errno;  // as a file made plainly
  if (fault == 0) fault = write_all(descriptor, content);
  if (fault == 0 && fsync(descriptor) != 0) fault = errno;
  if (close(descriptor) != 0 && fault == 0) fault = errno;
  if (fault == 0 && std::rename(beside.c_str(), path.c_str()) != 0) fault = errno;
  if (fault != 0) unlink(beside.c_str());
  return fault;
}

}  // namespace

void write_output(std::string_view text) {
  const int fault = write_all(STDOUT_FILENO, text);
  if (fault == 0) return;
  // A reader that has read enough ends the program as it ends others: by the signal.
  if (fault == EPIPE && std::signal(SIGPIPE, SIG_DFL) != SIG_ERR) static_cast<void>(raise(SIGPIPE));
  throw Error("standard output", std::string("cannot be written: ") + std::strerror(fault),
              "the answer is incomplete: make room, or write it elsewhere");
}

void write_note(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

void write_file(const std::string& path, std::string_view content) {
  if (is_standard_output(path)) {
    write_output(content);
    return;
  }
  struct stat status {};
  const bool there = stat(path.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode)) refuse_file(path, EISDIR);
  const bool special = there && !S_ISREG(status.st_mode);
  const int fault =
      special ? write_directly(path, content) : write_and_rename(file_behind(path), content);
  if (fault != 0) refuse_file(path, fault);
}

void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return;
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) refuse_file(path, fault.value());
}

void require_writable(const std::string& path) {
  if (is_standard_output(path)) return;
  std::error_code fault;
  const std::filesystem::path file = file_behind(path);
  if (std::filesystem::is_directory(file, fault)) refuse_file(path, EISDIR);
  const bool there = std::filesystem::exists(file, fault);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (access(there ? file.c_str() : folder.c_str(), W_OK) != 0) refuse_file(path, errno);
}

}  // namespace fourhold::shell

#include "tests/engine/ranks/started_job.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

namespace fourhold {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRankVariable = "OMPI_COMM_WORLD_RANK=";

// Nothing of a process that ends meanwhile: reading then fails with ESRCH, which an iterator over
// the file throws and a stream that copies it does not.
std::string text_of_process(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool holds_within(double seconds, const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  while (!condition()) {
    if (std::chrono::duration<double>(Clock::now() - began).count() > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

StartedJob::StartedJob(const std::string& command, std::string folder)
    : folder_(std::move(folder)) {
  const std::string line = "exec " + command;
  const std::string out = folder_ + "/stdout";
  const std::string err = folder_ + "/stderr";
  pid_ = fork();
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open(out.c_str(), kNew, 0666), STDOUT_FILENO);
  dup2(open(err.c_str(), kNew, 0666), STDERR_FILENO);
  execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
  _exit(127);
}

StartedJob::~StartedJob() {
  if (is_running()) {
    for (const auto& [rank, process] : ranks()) kill(process, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

std::map<int, pid_t> StartedJob::ranks() const {
  std::map<int, pid_t> found;
  std::error_code ignored;  // processes come and go
  for (fs::directory_iterator at("/proc", ignored); at != fs::directory_iterator();
       at.increment(ignored)) {
    const std::string process = at->path().filename().string();
    if (process.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string words = text_of_process("/proc/" + process + "/cmdline");
    if (words.find(folder_) == std::string::npos) continue;
    const std::string environment = text_of_process("/proc/" + process + "/environ");
    const std::size_t place = environment.find(kRankVariable);
    if (place == std::string::npos) continue;
    found[std::atoi(environment.c_str() + place + std::string(kRankVariable).size())] =
        static_cast<pid_t>(std::stol(process));
  }
  return found;
}

bool StartedJob::is_running() {
  if (status_) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == 0) return true;
  status_ = status;
  return false;
}

std::optional<Ended> StartedJob::end_within(double seconds) {
  if (!holds_within(seconds, [this] { return !is_running(); })) {
    kill(pid_, SIGKILL);
    return std::nullopt;
  }
  return Ended{WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_),
               text_of(folder_ + "/stdout"), err()};
}

}  // namespace fourhold

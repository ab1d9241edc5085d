#include "apps/engine/launched_job.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "fourhold/base/error.h"

namespace fourhold::engine_app {
namespace {

constexpr int kCannotStart = 127;

enum class JobOutput : std::uint8_t { shown, hidden };

// In the child: nothing but system calls may follow a fork.
[[noreturn]] void become(char* const* words, const sigset_t& signals, JobOutput output) {
  setpgid(0, 0);  // a terminal's Ctrl-C reaches us alone, and the job once
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  if (output == JobOutput::hidden) {
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
  execvp(words[0], words);
  _exit(kCannotStart);
}

pid_t start(const std::vector<std::string>& words, const sigset_t& signals, JobOutput output) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw Error(words.front(), std::string("cannot be started: ") + std::strerror(errno),
                "end other processes, or raise the limit (ulimit -u)");
  }
  if (child == 0) become(pointers.data(), signals, output);
  return child;
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

LaunchedJob::LaunchedJob() {
  sigemptyset(&watched_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&watched_, number);
  sigprocmask(SIG_BLOCK, &watched_, &before_);
}

LaunchedJob::~LaunchedJob() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

// Launchers hand SIGUSR1 on to each rank and wait for them. On SIGTERM they leave the ranks a
// second before they kill them, too little to save.
void LaunchedJob::pass_on(pid_t child) {
  ++stops_;
  if (stops_ == 1) {
    shell::write_note("\nending the job: no restart follows\n");
    kill(child, SIGUSR1);
  } else if (stops_ == 2) {
    shell::write_note("\nstill ending; once more kills the job and loses what is not saved\n");
  } else {
    kill(-child, SIGKILL);
  }
}

int LaunchedJob::wait_for(pid_t child) {
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return code_of(status);
    int number = 0;
    sigwait(&watched_, &number);
    if (number != SIGCHLD) pass_on(child);
  }
}

int LaunchedJob::run(const std::vector<std::string>& words) {
  const int code = wait_for(start(words, before_, JobOutput::shown));
  if (code != kCannotStart) return code;
  throw Error(words.front(), "is not there, or cannot be executed",
              words.front() == "srun"
                  ? "run it where Slurm's programs are, or without --slurm"
                  : "install it (openmpi-bin or mpich on Debian), or name its folder in PATH");
}

std::optional<int> LaunchedJob::run_quietly(const std::vector<std::string>& words,
                                            int most_seconds) {
  const pid_t child = start(words, before_, JobOutput::hidden);
  const std::time_t end = std::time(nullptr) + most_seconds;
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return code_of(status);
    const timespec rest{.tv_sec = 1, .tv_nsec = 0};
    const int number = sigtimedwait(&watched_, nullptr, &rest);
    if (number > 0 && number != SIGCHLD) pass_on(child);
    if (std::time(nullptr) < end) continue;
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
    return std::nullopt;
  }
}

bool LaunchedJob::stop_asked() {
  sigset_t pending;
  sigpending(&pending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigismember(&pending, number) == 1) ++stops_;
  }
  return stops_ > 0;
}

}  // namespace fourhold::engine_app

// A job in a process group of its own: ends when we are told to end, and says how it ended.
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace fourhold::engine_app {

// One at a time in a process. While it exists SIGINT, SIGTERM and SIGHUP are told to the job and do
// not end this process: the first asks the ranks to stop (they save), the second says that this is
// being done, the third kills the job.
class LaunchedJob {
 public:
  LaunchedJob();
  ~LaunchedJob();
  LaunchedJob(const LaunchedJob&) = delete;
  LaunchedJob& operator=(const LaunchedJob&) = delete;

  // Runs the words to their end and returns the exit code, 128 + N where signal N ended them.
  // Throws Error where the program cannot be started.
  int run(const std::vector<std::string>& words);
  // The same without output; nothing where it takes longer than that: then it is killed.
  std::optional<int> run_quietly(const std::vector<std::string>& words, int most_seconds);

  // Whether a signal has asked for the end of everything.
  [[nodiscard]] bool stop_asked();

 private:
  int wait_for(pid_t child);
  void pass_on(pid_t child);

  sigset_t watched_{};
  sigset_t before_{};
  int stops_ = 0;
};

}  // namespace fourhold::engine_app

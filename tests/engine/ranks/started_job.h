// A command in a process of its own: what it says, which ranks it has started, and signals to them.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace fourhold {

// The whole text of a file; empty where there is none.
[[nodiscard]] std::string text_of(const std::string& path);

// Asks every few milliseconds until it holds; false when it did not within that time.
bool holds_within(double seconds, const std::function<bool()>& condition);

struct Ended {
  int code = 0;  // of the shell: 128 + number for a signal
  std::string out;
  std::string err;
};

class StartedJob {
 public:
  // Starts it by a shell, with its output in files of `folder`. The folder's name must stand in
  // what the ranks were started with: by it they are known.
  StartedJob(const std::string& command, std::string folder);
  ~StartedJob();
  StartedJob(const StartedJob&) = delete;
  StartedJob& operator=(const StartedJob&) = delete;

  // The job's own process, which is the launcher's.
  void send(int signal) const { kill(pid_, signal); }
  // The processes of its ranks that are there now, by rank.
  [[nodiscard]] std::map<int, pid_t> ranks() const;
  [[nodiscard]] bool is_running();
  [[nodiscard]] std::string err() const { return text_of(folder_ + "/stderr"); }
  // Nothing, when it does not end within that time: it is then killed.
  [[nodiscard]] std::optional<Ended> end_within(double seconds);

 private:
  std::string folder_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace fourhold

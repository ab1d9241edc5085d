// What a long answer shows while it is worked out.
#pragma once

#include <chrono>
#include <string>

#include "fourhold/api/progress.h"

namespace fourhold::shell {

// Progress on standard error, from the first second on. On a terminal it is one line, rewritten as
// the work goes on, which the destructor takes away; elsewhere (a file, a batch job's log) plain
// lines, one in five seconds.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Lives as long as this.
  [[nodiscard]] api::Progress function();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::string_view what, std::int64_t done, std::int64_t of);

  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace fourhold::shell

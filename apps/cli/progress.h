// What a long answer shows while it is worked out.
#pragma once

#include <chrono>
#include <string>

#include "fourhold/api/progress.h"

namespace fourhold::cli {

// One line on standard error, rewritten as the work goes on: from the first second on, and only on
// a terminal. The destructor takes it away.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Lives as long as this. Empty where nothing would be shown.
  [[nodiscard]] api::Progress function();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::string_view what, std::int64_t done, std::int64_t of);

  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace fourhold::cli

#include "apps/shell/progress.h"

#include <unistd.h>

#include <fmt/format.h>

#include "apps/shell/output.h"
#include "fourhold/report/screen.h"
#include "fourhold/report/text.h"

namespace fourhold::shell {

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1), next_(Clock::now() + std::chrono::seconds(1)) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) write_note("\r" + std::string(report::kLeastColumns, ' ') + "\r");
}

api::Progress ProgressLine::function() {
  return
      [this](std::string_view what, std::int64_t done, std::int64_t of) { show(what, done, of); };
}

void ProgressLine::show(std::string_view what, std::int64_t done, std::int64_t of) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(5));
  shown_ = true;
  const std::string text = fmt::format("{}: {} of {}", what, done, of);
  if (!terminal_) {
    write_note(text + "\n");
    return;
  }
  write_note("\r" + report::padded_right(report::shortened(text, report::kLeastColumns),
                                         report::kLeastColumns));
}

}  // namespace fourhold::shell

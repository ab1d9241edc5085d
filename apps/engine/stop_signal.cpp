#include "apps/engine/stop_signal.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace fourhold::engine_app {
namespace {

// A handler may touch nothing else than such a count, and what is set before it is installed.
std::atomic<int> stops{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-*)
StopWords said;             // NOLINT(cppcoreguidelines-avoid-non-const-global-*)
bool on_a_line = false;     // NOLINT(cppcoreguidelines-avoid-non-const-global-*)
// The last is what launchers hand on to ranks (mpirun, mpiexec, srun; sbatch --signal=USR1@120).
constexpr std::array kStops{SIGINT, SIGTERM, SIGHUP, SIGUSR1};
static_assert(std::atomic<int>::is_always_lock_free);

// write() is safe in a handler; what fails there cannot be told to anybody.
void say(const char* text) { static_cast<void>(write(STDERR_FILENO, text, std::strlen(text)) < 0); }

void on_signal(int number) {
  const int before = errno;
  const int count = ++stops;
  if (count > 2) {
    std::signal(number, SIG_DFL);
    std::raise(number);  // ends the process when this handler returns
    return;
  }
  if (on_a_line) say("\n");  // the line of the steps is being rewritten
  say(count == 1 ? said.first : said.again);
  say("\n");
  errno = before;
}

}  // namespace

void watch_stop_signals(StopWords words) {
  said = words;
  on_a_line = isatty(STDERR_FILENO) != 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : kStops) sigaddset(&action.sa_mask, number);
  for (const int number : kStops) sigaction(number, &action, nullptr);
}

bool stop_asked() { return stops != 0; }

}  // namespace fourhold::engine_app

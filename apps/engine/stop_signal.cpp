#include "apps/engine/stop_signal.h"

#include <csignal>

namespace fourhold::engine_app {
namespace {

// A handler may touch nothing else than such a flag.
volatile std::sig_atomic_t stop_flag = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-*)

void on_signal(int number) {
  stop_flag = 1;
  std::signal(number, SIG_DFL);  // the next one ends the process
}

}  // namespace

void watch_stop_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGHUP, on_signal);
}

bool stop_asked() { return stop_flag != 0; }

}  // namespace fourhold::engine_app

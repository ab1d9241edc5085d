// A clean stop: the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 asks for it, the second says that it
// is being done, the third ends the process. An impatient second key must not cost what is being
// saved.
#pragma once

namespace fourhold::engine_app {

// What is said on standard error, as sentences without an end of line; literals.
struct StopWords {
  const char* first = "";
  const char* again = "";
};

// Installs the handlers.
void watch_stop_signals(StopWords words);
// Whether one has arrived.
[[nodiscard]] bool stop_asked();

}  // namespace fourhold::engine_app

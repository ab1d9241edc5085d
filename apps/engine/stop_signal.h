// A clean stop: the first SIGINT, SIGTERM or SIGHUP asks for it, the second ends the process.
#pragma once

namespace fourhold::engine_app {

// Installs the handlers.
void watch_stop_signals();
// Whether one has arrived.
[[nodiscard]] bool stop_asked();

}  // namespace fourhold::engine_app

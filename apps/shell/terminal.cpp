#include "apps/shell/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fourhold/base/ascii.h"

namespace fourhold::shell {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Open MPI gives ranks terminals of its own; where their output ends up is no terminal's to know.
// Other launchers do not: what is a terminal there is the user's.
bool is_rank() { return !environment("OMPI_COMM_WORLD_SIZE").empty(); }

int columns_of_output(bool terminal) {
  if (terminal) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  const int columns = std::atoi(environment("COLUMNS").c_str());
  return columns > 0 ? columns : report::kUsualColumns;
}

// The first variable that is set decides, as in the C library; none set says nothing against UTF-8.
report::Charset charset_of_locale() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    locale = environment(name);
    if (!locale.empty()) break;
  }
  locale = lowered(locale);
  const bool utf8 = locale.empty() || locale.find("utf-8") != std::string::npos ||
                    locale.find("utf8") != std::string::npos;
  return utf8 ? report::Charset::utf8 : report::Charset::ascii;
}

}  // namespace

std::optional<int> columns_of_notes() {
  if (isatty(STDERR_FILENO) != 1 || is_rank()) return std::nullopt;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::clamp<int>(known ? size.ws_col : report::kUsualColumns, report::kLeastColumns,
                         report::kMostColumns);
}

report::Screen screen_of_output(ColorWhen when) {
  const bool terminal = isatty(STDOUT_FILENO) == 1 && !is_rank();
  report::Screen screen;
  screen.columns =
      std::clamp(columns_of_output(terminal), report::kLeastColumns, report::kMostColumns);
  screen.charset = charset_of_locale();
  const bool wanted = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  const bool on = when == ColorWhen::always || (when == ColorWhen::automatic && wanted);
  screen.color = on ? report::Color::on : report::Color::off;
  return screen;
}

}  // namespace fourhold::shell

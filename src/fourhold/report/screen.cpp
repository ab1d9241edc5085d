#include "fourhold/report/screen.h"

#include <array>

namespace fourhold::report {

std::string painted(std::string_view text, Ink ink, const Screen& screen) {
  if (screen.color == Color::off || ink == Ink::plain || text.empty()) return std::string(text);
  // The basic colours of a terminal: its user chose how they look on its background.
  constexpr std::array<std::string_view, 10> kCodes{"0",  "1",  "32", "31", "2",
                                                    "34", "36", "33", "35", "90"};
  std::string out = "\x1b[";
  out += kCodes[static_cast<std::size_t>(ink)];
  out += 'm';
  out += text;
  out += "\x1b[0m";
  return out;
}

}  // namespace fourhold::report

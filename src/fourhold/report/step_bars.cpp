#include "fourhold/report/step_bars.h"

#include <algorithm>
#include <cmath>

#include "fourhold/report/duration.h"
#include "fourhold/report/text.h"

namespace fourhold::report {
namespace {

constexpr int kNameColumns = 17;
constexpr int kSecondsColumns = 9;
constexpr int kShareColumns = 6;

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

std::vector<StepPart> step_parts(const predict::PartSeconds& parts) {
  std::vector<StepPart> list;
  const double total = parts.total();
  predict::visit_parts(
      [&](const char* name, const double& seconds) {
        if (seconds > 0) list.push_back({with_blanks(name), seconds, seconds / total});
      },
      parts);
  std::stable_sort(list.begin(), list.end(),
                   [](const StepPart& a, const StepPart& b) { return a.seconds > b.seconds; });
  return list;
}

std::string draw_step(const predict::PartSeconds& parts, const Screen& screen) {
  const int width = screen.columns - kNameColumns - kSecondsColumns - kShareColumns - 8;
  const std::string glyph = screen.charset == Charset::ascii ? "#" : "\u2588";
  const std::vector<StepPart> list = step_parts(parts);
  std::string text;
  for (const StepPart& part : list) {
    // The longest bar fills the line.
    const int cells =
        std::max(1, static_cast<int>(std::lround(part.share / list.front().share * width)));
    std::string bar;
    for (int i = 0; i < cells; ++i) bar += glyph;
    text += "  " + padded_right(part.name, kNameColumns) + "  " +
            padded_left(seconds_text(part.seconds), kSecondsColumns) + "  " +
            padded_left(percent_text(part.share), kShareColumns) + "  " +
            painted(bar, part.name == "compute" ? Ink::good : Ink::buffer, screen) + "\n";
  }
  return text;
}

}  // namespace fourhold::report

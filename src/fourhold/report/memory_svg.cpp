// The bars as SVG: a small writer, for one picture.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/report/memory_bars.h"
#include "fourhold/report/svg.h"

namespace fourhold::report {
namespace {

constexpr double kWidth = 720;
constexpr double kLeft = 200;  // where the bars start
constexpr double kRight = 20;  // kept free
constexpr double kTop = 52;
constexpr double kRow = 30;
constexpr double kBarHeight = 18;

// Colours that stand out from white and from black.
std::string_view fill_of(Ink ink) {
  switch (ink) {
    case Ink::weight:
      return "#4c78a8";
    case Ink::gradient:
      return "#3b9c9c";
    case Ink::optimizer:
      return "#c98a1b";
    case Ink::activation:
      return "#b0609c";
    default:
      return "#8a8a8a";
  }
}

}  // namespace

std::string draw_svg(const MemoryBars& bars, const std::string& title) {
  const double height = kTop + kRow * static_cast<double>(bars.bars.size()) + 34;
  const Bytes most = std::max(bars.total(), bars.device.value_or(Bytes(0)));
  const double scale =
      (kWidth - kLeft - kRight) / static_cast<double>(std::max(most, Bytes(1)).count());
  const auto x_of = [scale](Bytes bytes) {
    return kLeft + scale * static_cast<double>(bytes.count());
  };

  std::string out =
      svg_start(kWidth, height, title, ".device { stroke: #d03030; stroke-width: 2 }");
  Bytes before;
  double y = kTop;
  for (const Bar& bar : bars.bars) {
    out += svg_text(10, y + 14, "start", bar.label);
    out += svg_text(kLeft - 10, y + 14, "end", format_bytes(bar.bytes));
    out += svg_bar(x_of(before), y, scale * static_cast<double>(bar.bytes.count()), kBarHeight,
                   fill_of(bar.ink));
    before += bar.bytes;
    y += kRow;
  }
  if (bars.device) {
    const double x = x_of(*bars.device);
    out += fmt::format(
        "  <line class=\"device\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
        x, kTop - 8, y);
    const bool room_right = x < kWidth - 180;
    out += svg_text(room_right ? x + 6 : x - 6, y + 12, room_right ? "start" : "end",
                    "device: " + format_bytes(*bars.device));
  }
  return out + std::string(kSvgEnd);
}

}  // namespace fourhold::report

#include "fourhold/report/scaling_svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/report/duration.h"
#include "fourhold/report/step_bars.h"
#include "fourhold/report/svg.h"

namespace fourhold::report {
namespace {

constexpr double kChartWidth = 720;
constexpr double kChartLeft = 60;
constexpr double kChartRight = 90;
constexpr double kChartTop = 56;
constexpr double kPlotHeight = 260;
constexpr double kChartRow = 26;
constexpr double kBarLeft = 250;
constexpr std::string_view kCurve = "#4c78a8";
constexpr std::string_view kIdeal = "#8a8a8a";

// Both axes are logarithmic, from 1 to the most devices.
class Axes {
 public:
  explicit Axes(double most) : decades_(std::log(std::max(most, 2.0))) {}
  [[nodiscard]] double x(double devices) const {
    return kChartLeft + (kChartWidth - kChartLeft - kChartRight) * std::log(devices) / decades_;
  }
  [[nodiscard]] double y(double speedup) const {
    return kChartTop + kPlotHeight * (1 - std::log(std::max(speedup, 1.0)) / decades_);
  }

 private:
  double decades_;
};

std::string line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  return fmt::format(
      "  <line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
      x2, y2, stroke);
}

std::string curve(const std::vector<ScalingMark>& marks) {
  if (marks.empty()) return {};
  const Axes axes(static_cast<double>(marks.back().devices));
  const auto most = static_cast<double>(marks.back().devices);
  std::string out = line(axes.x(1), axes.y(1), axes.x(most), axes.y(most), kIdeal);
  out += svg_text(axes.x(most) + 6, axes.y(most), "start", "N times one");
  std::string points;
  for (const ScalingMark& mark : marks) {
    const double x = axes.x(static_cast<double>(mark.devices));
    const double y = axes.y(mark.speedup);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    out += fmt::format("  <circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x, y,
                       kCurve);
    out += svg_text(x, kChartTop + kPlotHeight + 18, "middle", format_count(mark.devices));
    out += svg_text(x + 8, y + 16, "start", percent_text(mark.speedup_kept));
  }
  out += fmt::format("  <polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                     points, kCurve);
  return out + svg_text(kChartLeft, kChartTop + kPlotHeight + 38, "start",
                        "devices; beside each point the share of the speed-up that is kept");
}

}  // namespace

std::string draw_scaling_svg(const std::vector<ScalingMark>& marks,
                             const predict::PartSeconds& parts, const std::string& title) {
  const std::vector<StepPart> list = step_parts(parts);
  const double bars = kChartTop + kPlotHeight + 62;
  const double height = bars + kChartRow * static_cast<double>(list.size() + 1) + 10;
  std::string out = svg_start(kChartWidth, height, title);
  out += curve(marks);
  out += svg_text(10, bars + 13, "start", "One step: " + seconds_text(parts.total()));
  double y = bars + kChartRow;
  for (const StepPart& part : list) {
    out += svg_text(10, y + 13, "start", part.name);
    out += svg_text(kBarLeft - 10, y + 13, "end",
                    seconds_text(part.seconds) + "  " + percent_text(part.share));
    out += svg_bar(kBarLeft, y, (kChartWidth - kBarLeft - 20) * part.share, 18, kCurve);
    y += kChartRow;
  }
  return out + std::string(kSvgEnd);
}

}  // namespace fourhold::report

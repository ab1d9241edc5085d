#include "fourhold/report/scatter_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/report/svg.h"

namespace fourhold::report {
namespace {

constexpr double kSide = 360;  // of a panel's plot
constexpr double kMargin = 64;
constexpr double kScatterTop = 70;
constexpr double kLegendRow = 18;
constexpr std::size_t kLegendColumns = 5;
constexpr std::string_view kDiagonal = "#8a8a8a";
constexpr std::array<std::string_view, 10> kColours{"#4c78a8", "#f58518", "#54a24b", "#e45756",
                                                    "#72b7b2", "#b279a2", "#eeca3b", "#9d755d",
                                                    "#ff9da6", "#79706e"};

std::string_view colour_of(std::size_t group) { return kColours.at(group % kColours.size()); }

std::vector<std::string> scatter_groups(const std::vector<ScatterPanel>& panels) {
  std::vector<std::string> groups;
  for (const ScatterPanel& panel : panels) {
    for (const ScatterPoint& point : panel.points) {
      if (std::find(groups.begin(), groups.end(), point.group) == groups.end()) {
        groups.push_back(point.group);
      }
    }
  }
  return groups;
}

// One range for both axes, so that the diagonal is where predictions are right.
class ScatterAxes {
 public:
  ScatterAxes(const ScatterPanel& panel, double left) : left_(left) {
    double least = panel.points.front().measured;
    double most = least;
    for (const ScatterPoint& point : panel.points) {
      least = std::min({least, point.measured, point.predicted});
      most = std::max({most, point.measured, point.predicted});
    }
    first_ = std::floor(std::log10(least));
    last_ = std::max(std::ceil(std::log10(most)), first_ + 1);
  }
  [[nodiscard]] double x(double value) const { return left_ + kSide * share(value); }
  [[nodiscard]] double y(double value) const { return kScatterTop + kSide * (1 - share(value)); }
  [[nodiscard]] int first() const { return static_cast<int>(first_); }
  [[nodiscard]] int last() const { return static_cast<int>(last_); }
  [[nodiscard]] double left() const { return left_; }

 private:
  [[nodiscard]] double share(double value) const {
    return (std::log10(value) - first_) / (last_ - first_);
  }
  double left_;
  double first_ = 0;
  double last_ = 1;
};

std::string scatter_line(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "  <line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
      x2, y2, kDiagonal);
}

std::string panel_svg(const ScatterPanel& panel, const std::vector<std::string>& groups,
                      double left) {
  const ScatterAxes axes(panel, left);
  const double bottom = kScatterTop + kSide;
  std::string out = svg_text(left, kScatterTop - 12, "start", panel.title);
  out += scatter_line(left, bottom, left + kSide, bottom);
  out += scatter_line(left, kScatterTop, left, bottom);
  out += scatter_line(left, bottom, left + kSide, kScatterTop);
  for (int power = axes.first(); power <= axes.last(); ++power) {
    const double value = std::pow(10.0, power);
    out += svg_text(axes.x(value), bottom + 18, "middle", fmt::format("{:g}", value));
    out += svg_text(left - 6, axes.y(value) + 4, "end", fmt::format("{:g}", value));
  }
  out += svg_text(left + kSide / 2, bottom + 38, "middle", "measured");
  out += svg_text(left + 6, kScatterTop + 10, "start", "predicted");
  for (const ScatterPoint& point : panel.points) {
    const auto group = std::find(groups.begin(), groups.end(), point.group) - groups.begin();
    out += fmt::format(
        "  <circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\" fill-opacity=\"0.6\"/>\n",
        axes.x(point.measured), axes.y(point.predicted),
        colour_of(static_cast<std::size_t>(group)));
  }
  return out;
}

std::string legend_svg(const std::vector<std::string>& groups, double width) {
  std::string out;
  const double column = (width - kMargin) / static_cast<double>(kLegendColumns);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double x = kMargin + column * static_cast<double>(i % kLegendColumns);
    const std::size_t row = i / kLegendColumns;
    const double y = kScatterTop + kSide + 60 + kLegendRow * static_cast<double>(row);
    out += svg_bar(x, y - 9, 10, 10, colour_of(i));
    out += svg_text(x + 16, y, "start", groups[i]);
  }
  return out;
}

}  // namespace

std::string draw_scatter_svg(const std::vector<ScatterPanel>& panels, const std::string& title) {
  std::vector<ScatterPanel> drawn;
  for (const ScatterPanel& panel : panels) {
    if (!panel.points.empty()) drawn.push_back(panel);
  }
  const std::vector<std::string> groups = scatter_groups(drawn);
  const double width =
      kMargin + (kSide + kMargin) * static_cast<double>(std::max<std::size_t>(drawn.size(), 1));
  const auto legend_rows = (groups.size() + kLegendColumns - 1) / kLegendColumns;
  const double height = kScatterTop + kSide + 70 + kLegendRow * static_cast<double>(legend_rows);
  std::string out = svg_start(width, height, title);
  double left = kMargin;
  for (const ScatterPanel& panel : drawn) {
    out += panel_svg(panel, groups, left);
    left += kSide + kMargin;
  }
  return out + legend_svg(groups, width) + std::string(kSvgEnd);
}

}  // namespace fourhold::report

// Predicted against measured as a picture: both axes logarithmic, the diagonal is right.
#pragma once

#include <string>
#include <vector>

namespace fourhold::report {

// Points of one source share a colour.
struct ScatterPoint {
  double measured = 0;
  double predicted = 0;
  std::string group;
};

struct ScatterPanel {
  std::string title;  // what is compared, with its unit
  std::vector<ScatterPoint> points;
};

// Panels stand side by side; one without points is left out. Values are above 0.
[[nodiscard]] std::string draw_scatter_svg(const std::vector<ScatterPanel>& panels,
                                           const std::string& title);

}  // namespace fourhold::report

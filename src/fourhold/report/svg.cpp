#include "fourhold/report/svg.h"

#include <fmt/format.h>

#include "fourhold/report/text.h"

namespace fourhold::report {

std::string svg_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_start(double width, double height, const std::string& title,
                      std::string_view style) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n",
      width, height);
  out += "  <title>" + svg_escaped(title) + "</title>\n";
  out +=
      "  <style>\n"
      "    text { font: 13px sans-serif; fill: #222222 }\n"
      "    .title { font-weight: bold }\n";
  if (!style.empty()) out += fmt::format("    {}\n", style);
  out +=
      "    @media (prefers-color-scheme: dark) { text { fill: #dddddd } }\n"
      "  </style>\n";
  return out + fmt::format("  <text class=\"title\" x=\"10\" y=\"24\">{}</text>\n",
                           svg_escaped(shortened(title, 90)));
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("  <text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                     anchor, svg_escaped(text));
}

std::string svg_bar(double x, double y, double width, double height, std::string_view fill) {
  return fmt::format(
      "  <rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n", x, y,
      width, height, fill);
}

}  // namespace fourhold::report

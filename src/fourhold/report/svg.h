// The little of SVG that the pictures need.
#pragma once

#include <string>
#include <string_view>

namespace fourhold::report {

// Text that is no markup.
[[nodiscard]] std::string svg_escaped(std::string_view text);

// The start of a picture, up to its title line. Text follows the reader's light or dark scheme; the
// background is left to the page. `style` adds rules of the picture's own.
[[nodiscard]] std::string svg_start(double width, double height, const std::string& title,
                                    std::string_view style = {});
inline constexpr std::string_view kSvgEnd = "</svg>\n";

// `anchor` is start, middle or end.
[[nodiscard]] std::string svg_text(double x, double y, std::string_view anchor,
                                   std::string_view text);
[[nodiscard]] std::string svg_bar(double x, double y, double width, double height,
                                  std::string_view fill);

}  // namespace fourhold::report

#include "fourhold/report/step_bars.h"

#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/report/scaling_svg.h"
#include "fourhold/report/text.h"

namespace fourhold::report {
namespace {

predict::PartSeconds parts() {
  predict::PartSeconds out;
  out.compute = 6;
  out.tensor_parallel = 1;
  out.pipeline_bubble = 3;
  return out;
}

TEST(StepBars, ListThePartsThatTakeTimeMostFirst) {
  const std::vector<StepPart> list = step_parts(parts());
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].name, "compute");
  EXPECT_EQ(list[1].name, "pipeline bubble");
  EXPECT_EQ(list[2].name, "tensor parallel");
  EXPECT_DOUBLE_EQ(list[1].share, 0.3);
}

TEST(StepBars, StayOnTheScreen) {
  for (const int columns : {60, 80, 120}) {
    std::istringstream in(draw_step(parts(), {.columns = columns}));
    for (std::string line; std::getline(in, line);) EXPECT_LE(columns_of(line), columns) << line;
  }
}

TEST(StepBars, SayShareAndSeconds) {
  const std::string text = draw_step(parts(), {.charset = Charset::ascii});
  EXPECT_NE(text.find("6.00 s"), std::string::npos);
  EXPECT_NE(text.find("30.0%"), std::string::npos);
}

TEST(ScalingSvg, IsOnePictureOfCurveAndParts) {
  const std::string svg = draw_scaling_svg({{1, 1, 1}, {2, 1.8, 0.9}}, parts(), "a & b");
  EXPECT_EQ(svg.rfind("<svg ", 0), 0U);
  EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
  EXPECT_NE(svg.find("90.0%"), std::string::npos);
  EXPECT_NE(svg.find("pipeline bubble"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

}  // namespace
}  // namespace fourhold::report

#include "fourhold/report/memory_bars.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/report/text.h"

namespace fourhold::report {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

ledger::Entry entry(ledger::Category category, std::int64_t bytes,
                    std::string_view block = "layer") {
  ledger::Entry one;
  one.key.block = block;
  one.key.name = "x";
  one.category = category;
  one.bytes = Bytes(bytes);
  one.copies_at_peak = 1;
  return one;
}

// 2 of weights, 2 of gradients, 4 + 8 of optimizer, 5 of activations, 3 of buffers at the peak.
predict::MemoryPrediction sample() {
  using ledger::Category;
  predict::MemoryPrediction memory;
  predict::StageMemory stage;
  stage.ledger.entries = {
      entry(Category::weight, 2),           entry(Category::gradient, 2),
      entry(Category::master_weight, 4),    entry(Category::optimizer_state, 8),
      entry(Category::saved_activation, 3), entry(Category::activation_gradient, 1),
      entry(Category::scratch, 1),          entry(Category::scratch, 2, "step"),
      entry(Category::communication, 1)};
  stage.ledger.live_peak_bytes = Bytes(24);
  memory.stages.push_back(std::move(stage));
  memory.allocated_bytes = Bytes(24);
  memory.reserved_bytes = Bytes(26);
  memory.device_bytes = Bytes(30);
  return memory;
}

TEST(MemoryBars, ShowTheFourThingsAndTheBuffersBesideThem) {
  const MemoryBars bars = bars_of(sample(), Bytes(40));
  ASSERT_EQ(bars.bars.size(), 5U);
  EXPECT_EQ(bars.bars[0].bytes, Bytes(2));   // weights
  EXPECT_EQ(bars.bars[1].bytes, Bytes(2));   // gradients
  EXPECT_EQ(bars.bars[2].bytes, Bytes(12));  // master copy and moments
  EXPECT_EQ(bars.bars[3].bytes, Bytes(5));   // saved, gradients of activations, work in progress
  EXPECT_EQ(bars.bars[4].bytes, Bytes(9));   // step scratch, communication, allocator, runtime
}

TEST(MemoryBars, AddUpToWhatTheDeviceMustHold) {
  EXPECT_EQ(bars_of(sample(), Bytes(40)).total(), Bytes(30));
}

TEST(MemoryBars, DrawBarsEndToEndAgainstTheLineOfTheDevice) {
  MemoryBars bars;
  bars.bars = {{"weights", Bytes(kGiB), Ink::weight},
               {"activations", Bytes(3 * kGiB), Ink::activation}};
  bars.device = Bytes(2 * kGiB);
  // 60 columns: 11 for the label, 11 for the bytes, 4 blanks, 33 cells and one more for the line.
  const std::vector<std::string> lines =
      lines_of(draw(bars, {.columns = 60, .charset = Charset::ascii}));
  ASSERT_EQ(lines.size(), 3U);
  // A quarter of 33 cells is 8; the line stands at a half, cell 17.
  EXPECT_EQ(lines[0], "weights         1.00 GiB  ########         |");
  EXPECT_EQ(lines[1], "activations     3.00 GiB          #########|###############");
  EXPECT_EQ(lines[2], "device          2.00 GiB                   ^ device");
}

TEST(MemoryBars, NeverDrawBeyondTheScreen) {
  for (const int columns : {60, 80, 120}) {
    for (const std::int64_t device : {1, 10, 23, 24, 1000}) {
      for (const Charset charset : {Charset::ascii, Charset::utf8}) {
        const MemoryBars bars = bars_of(sample(), Bytes(device));
        for (const std::string& line :
             lines_of(draw(bars, {.columns = columns, .charset = charset}))) {
          EXPECT_LE(columns_of(line), columns) << line;
        }
      }
    }
  }
}

TEST(MemoryBars, DrawNoLineWithoutADevice) {
  const std::string text = draw(bars_of(sample(), std::nullopt), {.charset = Charset::ascii});
  EXPECT_EQ(text.find('|'), std::string::npos);
  EXPECT_EQ(text.find("device"), std::string::npos);
}

TEST(MemoryBars, DrawOnlyPlainAsciiWhereAskedTo) {
  const std::string text = draw(bars_of(sample(), Bytes(20)), {.charset = Charset::ascii});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; }));
}

TEST(MemoryBars, SvgIsOneElementWithATitleARectanglePerBarAndTheLine) {
  const std::string svg = draw_svg(bars_of(sample(), Bytes(20)), "gpt2 on t4");
  EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0U);
  EXPECT_NE(svg.find("<title>gpt2 on t4</title>"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  std::size_t rectangles = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos;
       at = svg.find("<rect", at + 1)) {
    ++rectangles;
  }
  EXPECT_EQ(rectangles, 5U);
  EXPECT_NE(svg.find("<line class=\"device\""), std::string::npos);
}

TEST(MemoryBars, SvgEscapesWhatXmlWouldObey) {
  const std::string svg = draw_svg(bars_of(sample(), Bytes(20)), "a<b>&\"c\" \x01");
  EXPECT_NE(svg.find("a&lt;b&gt;&amp;&quot;c&quot; ?"), std::string::npos);
  EXPECT_EQ(svg.find("a<b>"), std::string::npos);
}

}  // namespace
}  // namespace fourhold::report

#include "fourhold/report/table.h"

#include <sstream>

#include <gtest/gtest.h>

#include "fourhold/report/text.h"

namespace fourhold::report {
namespace {

int widest(const std::string& text) {
  std::istringstream in(text);
  int most = 0;
  for (std::string line; std::getline(in, line);) most = std::max(most, columns_of(line));
  return most;
}

TEST(Table, AlignsColumnsUnderTheirTitles) {
  Table table({{"name"}, {"bytes", Align::right}});
  table.add({"a", "1"});
  table.add({"bcdef", "1000"});
  EXPECT_EQ(table.text(Screen{}),
            "name   bytes\n"
            "a          1\n"
            "bcdef   1000\n");
}

TEST(Table, PrintsNothingWithoutRows) { EXPECT_EQ(Table({{"name"}}).text(Screen{}), ""); }

TEST(Table, LeavesOutTheTitleLineWhereNoColumnHasATitle) {
  Table table({{""}, {""}});
  table.add({"a", "b"});
  EXPECT_EQ(table.text(Screen{}, 2), "  a  b\n");
}

TEST(Table, BreaksTheCellsOfAWrappingColumnToStayOnTheScreen) {
  Table table({{"change", Align::left, WhenTight::wrap}, {"saves", Align::right}});
  table.add({"tensor parallel over eight devices", "1 GiB"});
  EXPECT_EQ(table.text(Screen{.columns = 25}),
            "change              saves\n"
            "tensor parallel     1 GiB\n"
            "over eight devices\n");
}

TEST(Table, BreaksLongNamesAtTheirMarksSoThatTheyStayWholeAndDiffer) {
  Table table({{"entry", Align::left, WhenTight::wrap}, {"n", Align::right}});
  table.add({"layer.0.down_weight.moment1", "1"});
  table.add({"layer.0.gate_weight.moment1", "2"});
  const std::string text = table.text(Screen{.columns = 24});
  EXPECT_EQ(widest(text), 24);
  EXPECT_EQ(text,
            "entry                  n\n"
            "layer.0.down_weight.   1\n"
            "moment1\n"
            "layer.0.gate_weight.   2\n"
            "moment1\n");
}

TEST(Table, TakesRoomFromTheWidestColumnFirst) {
  Table table({{"a", Align::left, WhenTight::wrap}, {"b", Align::left, WhenTight::wrap}});
  table.add({"a short one", "a much longer text of many words that is to give way"});
  // 11 + 2 + 20: the first column keeps its whole width.
  EXPECT_NE(table.text(Screen{.columns = 33}).find("a short one  a much longer text\n"),
            std::string::npos);
}

TEST(Table, ReplacesControlCharactersInCells) {
  Table table({{""}});
  table.add({"a\x1b[2Jb"});
  EXPECT_EQ(table.text(Screen{}), "a?[2Jb\n");
}

}  // namespace
}  // namespace fourhold::report

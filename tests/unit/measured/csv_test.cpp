#include "fourhold/measured/csv.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::measured {
namespace {

std::vector<std::vector<std::string>> records_of(std::string_view text) {
  CsvReader reader(text, "a.csv");
  std::vector<std::vector<std::string>> records;
  for (std::vector<CsvField> record; reader.next(record);) {
    records.emplace_back();
    for (const CsvField& field : record) records.back().push_back(field.text);
  }
  return records;
}

// Where the reader refuses the text, or "" where it does not.
std::string refused_at(std::string_view text) {
  try {
    static_cast<void>(records_of(text));
  } catch (const Error& error) {
    EXPECT_FALSE(error.hint().empty());
    return error.where();
  }
  return "";
}

using Records = std::vector<std::vector<std::string>>;

TEST(Csv, ReadsPlainFields) {
  EXPECT_EQ(records_of("a,b\n1,\n,2"), (Records{{"a", "b"}, {"1", ""}, {"", "2"}}));
}

TEST(Csv, ReadsQuotedFields) {
  EXPECT_EQ(records_of("\"a, b\",\"say \"\"x\"\"\",\"two\nlines\"\n"),
            (Records{{"a, b", "say \"x\"", "two\nlines"}}));
  EXPECT_EQ(records_of("\"\",b"), (Records{{"", "b"}}));
}

TEST(Csv, TakesLineBreaksOfAllKindsAByteOrderMarkAndEmptyLines) {
  EXPECT_EQ(records_of("\xEF\xBB\xBFid,x\r\n1,2\r\n\r\n\n3,4"),
            (Records{{"id", "x"}, {"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(records_of(""), Records{});
  EXPECT_EQ(records_of("a\rb,c"), (Records{{"a"}, {"b", "c"}}));
}

TEST(Csv, SaysWhereAQuoteIsWrong) {
  EXPECT_EQ(refused_at("a,b\nc,\"never\nclosed"), "a.csv:2:3");
  EXPECT_EQ(refused_at("a,\"b\"x"), "a.csv:1:6");
  EXPECT_EQ(refused_at("a,b\n1,in\"side"), "a.csv:2:5");
  EXPECT_EQ(refused_at("a,\"b\""), "");
}

TEST(Csv, RefusesARecordThatFillsTheMemory) {
  const std::string most(CsvReader::kMostFields - 1, ',');
  EXPECT_EQ(refused_at(most), "");
  EXPECT_EQ(refused_at(most + ","), "a.csv:1:" + std::to_string(CsvReader::kMostFields + 1));
}

TEST(Csv, CountsLinesInsideQuotes) {
  CsvReader reader("\"a\nb\",c\nd", "a.csv");
  std::vector<CsvField> record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(place_of(record[1], "a.csv"), "a.csv:2:4");
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(place_of(record[0], "a.csv"), "a.csv:3:1");
}

TEST(Csv, LinesMayEndAsOnOldMacintoshes) {
  EXPECT_EQ(records_of("id,x\r1,\"2\r3\"\r"), records_of("id,x\n1,\"2\r3\"\n"));
  EXPECT_EQ(refused_at("a,b\rc,\"never"), "a.csv:2:3");
}

TEST(Csv, Utf16IsRefusedWithAWayOut) {
  using namespace std::string_view_literals;
  EXPECT_EQ(refused_at("\xFF\xFEi\0d\0"sv), "a.csv:1:1");
  EXPECT_EQ(refused_at("\xFE\xFF\0i\0d"sv), "a.csv:1:1");
  EXPECT_EQ(refused_at("i\0d\0"sv), "a.csv:1:1");
  EXPECT_EQ(refused_at("\xFF\xFE\0\0i\0\0\0"sv), "a.csv:1:1");
}

}  // namespace
}  // namespace fourhold::measured

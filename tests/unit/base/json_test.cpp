#include "fourhold/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"

namespace fourhold::json {
namespace {

Value read(std::string_view text) { return parse(text, "file.json"); }
Value read_config(std::string_view text) {
  return parse(text, "file.json", Literals::nan_and_infinity);
}

// The text of the refusal, or "" when the text was accepted.
std::string refusal(std::string_view text, Literals literals = Literals::strict) {
  try {
    static_cast<void>(parse(text, "file.json", literals));
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "file.json");
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "";
}

std::string repeated(std::string_view unit, std::size_t bytes) {
  std::string text;
  while (text.size() + unit.size() <= bytes) text += unit;
  return text;
}

TEST(Json, EveryKindOfValueIsRead) {
  const Value value = read(R"({"a": [null, true, -7, 2.5, "x"], "b": {}})");
  ASSERT_TRUE(value.is_object());
  const Array& items = value.find("a")->array();
  ASSERT_EQ(items.size(), 5U);
  EXPECT_TRUE(items[0].is_null());
  EXPECT_TRUE(items[1].boolean());
  EXPECT_EQ(items[2].integer(), -7);
  EXPECT_DOUBLE_EQ(items[3].number(), 2.5);
  EXPECT_EQ(items[4].string(), "x");
  EXPECT_TRUE(value.find("b")->object().empty());
  EXPECT_EQ(value.find("c"), nullptr);
}

TEST(Json, AScalarIsADocument) {
  EXPECT_EQ(read(" 3 ").integer(), 3);
  EXPECT_TRUE(read("null").is_null());
}

TEST(Json, IntegersOutside64BitsBecomeDoubles) {
  EXPECT_EQ(read("9223372036854775807").integer(), INT64_MAX);
  EXPECT_EQ(read("-9223372036854775808").integer(), INT64_MIN);
  const Value beyond = read("9223372036854775808");
  EXPECT_FALSE(beyond.is_integer());
  EXPECT_DOUBLE_EQ(beyond.number(), 9223372036854775808.0);
}

TEST(Json, AnIntegerIsAlsoANumber) {
  EXPECT_TRUE(read("4").is_number());
  EXPECT_DOUBLE_EQ(read("4").number(), 4.0);
  EXPECT_FALSE(read("4.0").is_integer());
}

TEST(Json, KindsAreNamedForErrors) {
  EXPECT_EQ(read("null").kind_name(), "null");
  EXPECT_EQ(read("1").kind_name(), "a number");
  EXPECT_EQ(read("[]").kind_name(), "an array");
  EXPECT_EQ(read("{}").kind_name(), "an object");
  EXPECT_EQ(read("\"\"").kind_name(), "a string");
  EXPECT_EQ(read("false").kind_name(), "a boolean");
}

TEST(Json, PythonLiteralsAreReadOnlyWhereTheyAreAllowed) {
  const Value value = read_config(R"([NaN, Infinity, -Infinity, 0, "NaN"])");
  const Array& items = value.array();
  EXPECT_TRUE(std::isnan(items[0].number()));
  EXPECT_DOUBLE_EQ(items[1].number(), INFINITY);
  EXPECT_DOUBLE_EQ(items[2].number(), -INFINITY);
  EXPECT_EQ(items[3].integer(), 0);
  EXPECT_EQ(items[4].string(), "NaN");
  EXPECT_NE(refusal("[NaN]"), "");
}

TEST(Json, PythonLiteralsActOnlyAsWholeValuesOutsideStrings) {
  const Value value = read_config(R"({"Infinity": "a \" NaN, \\", "b": [1, true, Infinity]})");
  EXPECT_EQ(value.find("Infinity")->string(), "a \" NaN, \\");
  EXPECT_DOUBLE_EQ(value.find("b")->array()[2].number(), INFINITY);
  for (const std::string_view text :
       {"{NaN: 1}", "[NaN5]", "[1NaN]", "[NaN NaN]", "[+Infinity]", "[nan]"}) {
    EXPECT_NE(refusal(text, Literals::nan_and_infinity), "") << text;
  }
}

TEST(Json, FaultsNameLineAndColumn) {
  EXPECT_NE(refusal("{\"a\": 1,\n  \"b\": }").find("line 2, column 8"), std::string::npos);
  EXPECT_NE(refusal("[").find("line 1, column 1: "), std::string::npos);
  EXPECT_NE(refusal("[").find("unexpected end of input"), std::string::npos);
}

TEST(Json, TrailingTextIsRefused) {
  EXPECT_NE(refusal("{} x").find("expected end of input"), std::string::npos);
}

TEST(Json, ADuplicateKeyIsNamed) {
  const std::string text = refusal("{\"a\": 1, \"b\": 2,\n \"a\": 3}");
  EXPECT_NE(text.find("line 2"), std::string::npos);
  EXPECT_NE(text.find("the key 'a' stands twice"), std::string::npos);
  EXPECT_EQ(refusal(R"([{"a": 1}, {"a": 1}])"), "");
}

TEST(Json, DepthEndsAt64) {
  EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_NE(refusal(std::string(65, '[') + std::string(65, ']')).find("deeper than 64"),
            std::string::npos);
}

TEST(Json, OnlyUtf8IsText) {
  EXPECT_EQ(read("\xEF\xBB\xBF[1]").array().size(), 1U);
  EXPECT_NE(refusal("\xFF\xFE[\0]").find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal(std::string_view("\0[", 2)).find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal("[\"\xC3\x28\"]").find("UTF-8"), std::string::npos);
  EXPECT_NE(refusal(R"(["\ud800"])"), "");
}

TEST(Json, NumbersBeyondADoubleAreRefused) {
  EXPECT_NE(refusal("[1e999]").find("1e999"), std::string::npos);
}

TEST(Json, ErrorsDoNotRepeatLongInput) {
  EXPECT_LT(refusal("[\"" + std::string(100'000, 'x')).size(), 300U);
  EXPECT_LT(refusal("{\"" + std::string(9'000, 'k') + "\":1,\"" + std::string(9'000, 'k') + "\":1}")
                .size(),
            300U);
}

TEST(Json, AHundredThousandKeysAreCheckedQuickly) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += "\"" + std::to_string(i) + "\":1,";
  EXPECT_EQ(read(text + "\"last\":1}").object().size(), 100'001U);
  EXPECT_NE(refusal(text + "\"50000\":1}").find("'50000'"), std::string::npos);
}

TEST(Json, HalfAMillionSmallValuesAreRead) {
  EXPECT_EQ(read("[" + repeated("1,", 1'000'000) + "1]").array().size(), 500'001U);
  EXPECT_EQ(read("[" + repeated("{},", 999'999) + "1]").array().size(), 333'334U);
}

TEST(Json, WritingIndentsByTwoOrKeepsOneLine) {
  const Value value = Object{{"a", Array{1, 2.5}}, {"b", Object{}}, {"c", Array{}}};
  EXPECT_EQ(write(value), "{\n  \"a\": [\n    1,\n    2.5\n  ],\n  \"b\": {},\n  \"c\": []\n}");
  EXPECT_EQ(write(value, Layout::one_line), R"({"a": [1, 2.5], "b": {}, "c": []})");
}

TEST(Json, DoublesAreWrittenShortestAndReadBackTheSame) {
  EXPECT_EQ(write(0.1), "0.1");
  EXPECT_EQ(write(2.0), "2.0");
  EXPECT_EQ(write(1e300), "1e+300");
  EXPECT_EQ(write(NAN), "null");
  for (const double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, -123456789.123}) {
    EXPECT_EQ(read(write(value)).number(), value);
  }
}

TEST(Json, StringsAreEscaped) {
  EXPECT_EQ(write("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(write("\xC3\xA9"), "\"\xC3\xA9\"");
}

TEST(Json, WhatIsWrittenReadsBackEqual) {
  const Value value = Object{{"a", Array{nullptr, true, 1, 1.5, "x"}}, {"b", Object{{"c", 0}}}};
  EXPECT_TRUE(read(write(value)) == value);
  EXPECT_FALSE(read(write(value)) == Value(Array{}));
  EXPECT_TRUE(Value(Array{}) == read("[]"));
}

TEST(Json, ATextOfNothingIsCalledEmpty) {
  for (const char* text : {"", " \n\t\r\n", "\xef\xbb\xbf"}) {
    try {
      static_cast<void>(parse(text, "a.json"));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "a.json");
      EXPECT_STREQ(error.what(), "is empty");
    }
  }
}

}  // namespace
}  // namespace fourhold::json

#include "fourhold/base/field_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/error.h"

namespace fourhold {
namespace {

FieldReader reader(std::string_view text, std::string path = "") {
  return FieldReader(json::parse(text, "file", json::Literals::nan_and_infinity), std::move(path));
}

Error refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return error;
  }
  return Error("", "nothing was refused");
}

TEST(FieldReader, MembersAreReadByKind) {
  FieldReader fields = reader(R"({"i": 3, "n": 2.5, "s": "x", "b": true, "o": {"i": 4}})");
  EXPECT_EQ(fields.integer("i"), 3);
  EXPECT_EQ(fields.number("n"), 2.5);
  EXPECT_EQ(fields.number("i"), 3.0);
  EXPECT_EQ(fields.string("s"), "x");
  EXPECT_EQ(fields.boolean("b"), true);
  EXPECT_EQ(fields.object("o")->integer("i"), 4);
}

TEST(FieldReader, NullIsAbsent) {
  FieldReader fields = reader(R"({"a": null})");
  EXPECT_FALSE(fields.integer("a").has_value());
  EXPECT_FALSE(fields.integer("b").has_value());
  EXPECT_TRUE(fields.has("a"));
  EXPECT_FALSE(fields.has("b"));
  EXPECT_TRUE(fields.is_null("a"));
  EXPECT_FALSE(fields.is_null("b"));
}

TEST(FieldReader, ErrorsNameTheWholePath) {
  FieldReader fields = reader(R"({"inner": {"size": "big", "list": [1, "x"]}})", "outer");
  FieldReader inner = *fields.object("inner");
  EXPECT_EQ(refusal([&] { static_cast<void>(inner.integer("size")); }).where(), "outer.inner.size");
  EXPECT_EQ(refusal([&] { static_cast<void>(inner.integers("list")); }).where(),
            "outer.inner.list[1]");
}

TEST(FieldReader, AWrongKindSaysWhatIsWanted) {
  FieldReader fields = reader(R"({"i": 1, "s": "x", "f": 4096.0, "g": 1.5, "n": NaN})");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.integer("s")); }).what(),
               "must be an integer, not a string");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.integer("f")); }).what(),
               "must be an integer, not 4096.0");
  EXPECT_EQ(refusal([&] { static_cast<void>(fields.integer("f")); }).hint(), "write 4096");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.integer("n")); }).what(),
               "must be an integer, not nan");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.number("s")); }).what(),
               "must be a number, not a string");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.string("i")); }).what(),
               "must be a string, not a number");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.boolean("i")); }).what(),
               "must be true or false, not a number");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.array("i")); }).what(),
               "must be an array, not a number");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.object("i")); }).what(),
               "must be an object, not a number");
}

TEST(FieldReader, OutOfRangeNamesTheNearestValidValue) {
  FieldReader fields = reader(R"({"low": 0, "high": 99, "p": 1.5, "inf": Infinity})");
  const Error low = refusal([&] { static_cast<void>(fields.integer("low", {1, 64})); });
  EXPECT_STREQ(low.what(), "is 0; it must be from 1 to 64");
  EXPECT_EQ(low.hint(), "the nearest valid value is 1");
  EXPECT_EQ(refusal([&] {
              static_cast<void>(fields.integer("high", {1, 64}));
            }).hint(),
            "the nearest valid value is 64");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.integer("low", {.least = 1})); }).what(),
               "is 0; it must be at least 1");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.integer("high", {.most = 9})); }).what(),
               "is 99; it must be at most 9");
  EXPECT_STREQ(refusal([&] {
                 static_cast<void>(fields.number("p", {0, 1}));
               }).what(),
               "is 1.5; it must be from 0 to 1");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.number("inf")); }).what(),
               "is inf; it must be finite");
  EXPECT_STREQ(refusal([&] { static_cast<void>(fields.number("inf", {.least = 0})); }).what(),
               "is inf; it must be finite and at least 0");
}

TEST(FieldReader, ListsAreCheckedElementByElement) {
  FieldReader fields = reader(R"({"i": [1, 2], "n": [1, 2.5], "s": ["a"], "e": []})");
  EXPECT_EQ(fields.integers("i"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(fields.numbers("n"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(fields.strings("s"), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(fields.integers("e")->empty());
  EXPECT_FALSE(fields.integers("none").has_value());
  EXPECT_EQ(refusal([&] { static_cast<void>(fields.integers("i", {2, 9})); }).where(), "i[0]");
}

TEST(FieldReader, RequiredMembersMustBeThere) {
  FieldReader fields = reader("{}", "link");
  const Error error = refusal([&] { static_cast<void>(fields.required_integer("lanes")); });
  EXPECT_EQ(error.where(), "link.lanes");
  EXPECT_STREQ(error.what(), "is missing");
  EXPECT_EQ(refusal([&] { static_cast<void>(fields.required_number("x")); }).where(), "link.x");
  EXPECT_EQ(refusal([&] { static_cast<void>(fields.required_string("y")); }).where(), "link.y");
}

TEST(FieldReader, WhatNobodyAskedForIsReportedWithANearName) {
  FieldReader fields = reader(R"({"lanes": 4, "bandwith": 1, "extra": 2})");
  static_cast<void>(fields.integer("lanes"));
  static_cast<void>(fields.number("bandwidth"));
  EXPECT_EQ(fields.unread(), (std::vector<std::string>{"bandwith", "extra"}));
  EXPECT_EQ(fields.unread_members()[1].second.integer(), 2);
  const Error error = refusal([&] { fields.refuse_unread(); });
  EXPECT_EQ(error.where(), "bandwith");
  EXPECT_EQ(error.hint(), "did you mean 'bandwidth'?");
}

TEST(FieldReader, AskingForEverythingLeavesNothingUnread) {
  FieldReader fields = reader(R"({"a": 1})");
  static_cast<void>(fields.has("a"));
  EXPECT_NO_THROW(fields.refuse_unread());
}

TEST(FieldReader, OnlyAnObjectHasFields) {
  EXPECT_STREQ(refusal([] { static_cast<void>(reader("[1]", "x")); }).what(),
               "must be an object, not an array");
}

TEST(FieldReader, AnIntegerBeyond64BitsIsOutOfRangeNotOfTheWrongKind) {
  const Error past = refusal([] {
    (void)reader(R"({"n": 9223372036854775808})").integer("n", {.least = 1, .most = 100});
  });
  EXPECT_STREQ(past.what(), "is 9.223372036854776e+18; it must be at most 100");
  EXPECT_EQ(past.hint(), "the nearest valid value is 100");
  const Error below =
      refusal([] { (void)reader(R"({"n": -1e30})").integer("n", {.least = 1, .most = 100}); });
  EXPECT_STREQ(below.what(), "is -1e+30; it must be at least 1");
  EXPECT_STREQ(refusal([] { (void)reader(R"({"n": 1e16})").integer("n"); }).what(),
               "must be an integer, not 1e+16");
}

TEST(FieldReader, NamesThatWereAskedForAndAreNotThereAreAbsent) {
  FieldReader fields(json::parse(R"({"a": 1, "b": null, "c": 3})", "x"), "");
  for (const char* name : {"d", "a", "b", "d"}) static_cast<void>(fields.value(name));
  EXPECT_EQ(fields.absent(), std::vector<std::string>{"d"});
}

}  // namespace
}  // namespace fourhold

#include "fourhold/model/header_scanner.h"

#include <string>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::model {
namespace {

std::string string_of(const std::string& text) {
  HeaderScanner scanner(text, 8, "f");
  return scanner.string("a name");
}

std::string fault_of(const std::string& text) {
  try {
    HeaderScanner scanner(text, 8, "f");
    (void)scanner.string("a name");
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "f");
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

std::string integer_fault_of(const std::string& text) {
  try {
    HeaderScanner scanner(text, 8, "f");
    (void)scanner.integer("a dimension");
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(HeaderScanner, DecodesEscapes) {
  EXPECT_EQ(string_of(R"("a\"\\\/\n\tb")"), "a\"\\/\n\tb");
  EXPECT_EQ(string_of(R"("\u0041\u00e9\u20AC")"), "A\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(string_of(R"("\ud83d\ude00")"), "\xF0\x9F\x98\x80");  // U+1F600 as a pair
}

TEST(HeaderScanner, KeepsUtf8AsItIs) {
  EXPECT_EQ(string_of("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""),
            "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(HeaderScanner, RefusesBytesThatAreNoUtf8) {
  // A stray continuation, an overlong '/', a surrogate, one past U+10FFFF, a cut sequence.
  for (const char* bytes :
       {"\"\x80\"", "\"\xC0\xAF\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xE2\x82\""}) {
    EXPECT_EQ(fault_of(bytes), "byte 9: a name is not UTF-8");
  }
}

TEST(HeaderScanner, RefusesBrokenStrings) {
  EXPECT_EQ(fault_of("7"), "byte 8: expected a name in double quotes, found '7'");
  EXPECT_EQ(fault_of("\"ab"), "byte 11: a name does not end");
  EXPECT_EQ(fault_of("\"a\nb\""), "byte 10: a name holds the control byte 0x0a");
  EXPECT_EQ(fault_of(R"("a\x")"), "byte 11: a name holds an unknown escape");
  EXPECT_EQ(fault_of(R"("\u12g4")"), "byte 13: a name holds a broken \\u escape");
  EXPECT_EQ(fault_of(R"("\ud83dx")"), "byte 15: a name holds half of a surrogate pair");
  EXPECT_EQ(fault_of(R"("\ude00")"), "byte 14: a name holds half of a surrogate pair");
}

TEST(HeaderScanner, ReadsIntegersUpToTheLargest) {
  const std::string text = " 9223372036854775807 ";
  HeaderScanner scanner(text, 0, "f");
  EXPECT_EQ(scanner.integer("a dimension"), INT64_MAX);
  scanner.finish();
}

TEST(HeaderScanner, RefusesWhatIsNoCount) {
  EXPECT_EQ(integer_fault_of("9223372036854775808"), "byte 8: a dimension leaves the 64-bit range");
  EXPECT_EQ(integer_fault_of("-1"),
            "byte 8: expected a dimension, an integer of at least 0, found '-'");
  EXPECT_EQ(integer_fault_of("1.0"), "byte 8: a dimension is not an integer");
  EXPECT_EQ(integer_fault_of("1e3"), "byte 8: a dimension is not an integer");
  EXPECT_EQ(integer_fault_of("007"), "byte 8: a dimension has a leading zero");
  EXPECT_EQ(integer_fault_of(""),
            "byte 8: expected a dimension, an integer of at least 0, found the end of the header");
}

TEST(HeaderScanner, NamesWhatStandsInThePlaceOfAToken) {
  const std::string text = "  ;";
  HeaderScanner scanner(text, 8, "f");
  EXPECT_FALSE(scanner.take(':'));
  try {
    scanner.expect(':', "after the name");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "byte 10: expected ':' after the name, found ';'");
  }
}

}  // namespace
}  // namespace fourhold::model

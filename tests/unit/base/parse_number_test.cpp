#include "fourhold/base/parse_number.h"

#include <string>

#include <gtest/gtest.h>

namespace fourhold {
namespace {

TEST(ParseNumber, TakesTheWholeText) {
  EXPECT_EQ(parse_number("0.05"), 0.05);
  EXPECT_EQ(parse_number("-1e-3"), -0.001);
  EXPECT_EQ(parse_number("7"), 7.0);
}

TEST(ParseNumber, TakesNothingElse) {
  for (const char* text : {"", "one", "1x", "1 ", "10%", "nan", "inf", "1e999"}) {
    EXPECT_FALSE(parse_number(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_number(std::string("1\0", 2)).has_value());
}

}  // namespace
}  // namespace fourhold

#include "fourhold/report/duration.h"

#include <gtest/gtest.h>

namespace fourhold::report {
namespace {

TEST(Duration, SecondsHaveThreeDigits) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(45e-6), "45.0 us");
  EXPECT_EQ(seconds_text(0.2314), "231 ms");
  EXPECT_EQ(seconds_text(1.234), "1.23 s");
  EXPECT_EQ(seconds_text(12.34), "12.3 s");
  EXPECT_EQ(seconds_text(1234.5), "1,235 s");
}

TEST(Duration, DaysAreSaidInTheUnitThatPeopleUse) {
  EXPECT_EQ(days_text(95.7 / 1440), "95.7 minutes");
  EXPECT_EQ(days_text(31.26 / 24), "31.3 hours");
  EXPECT_EQ(days_text(150.4), "150 days");
  EXPECT_EQ(days_text(2.57 * 365), "2.57 years");
}

TEST(Duration, SharesRatesAndDollars) {
  EXPECT_EQ(percent_text(0.4551), "45.5%");
  EXPECT_EQ(rate_text(85301.4), "85,301");
  EXPECT_EQ(dollars_text(22.334), "$22.33");
  EXPECT_EQ(dollars_text(1234567.4), "$1,234,567");
}

}  // namespace
}  // namespace fourhold::report

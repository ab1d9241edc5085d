#include "fourhold/report/screen.h"

#include <gtest/gtest.h>

namespace fourhold::report {
namespace {

TEST(Screen, PaintsNothingWithoutColour) {
  EXPECT_EQ(painted("fits", Ink::good, Screen{}), "fits");
}

TEST(Screen, PutsEscapeCodesAroundATextWithColour) {
  const Screen screen{.color = Color::on};
  EXPECT_EQ(painted("fits", Ink::good, screen), "\x1b[32mfits\x1b[0m");
  EXPECT_EQ(painted("no", Ink::bad, screen), "\x1b[31mno\x1b[0m");
  EXPECT_EQ(painted("plain", Ink::plain, screen), "plain");
  EXPECT_EQ(painted("", Ink::good, screen), "");
}

}  // namespace
}  // namespace fourhold::report

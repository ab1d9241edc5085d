#include "fourhold/report/text.h"

#include <gtest/gtest.h>

namespace fourhold::report {
namespace {

using Lines = std::vector<std::string>;

TEST(Text, HidesControlCharactersOfForeignFiles) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\td\x7f"), "a?[31mb?c?d?");
  EXPECT_EQ(printable("\u2588 stays"), "\u2588 stays");
}

TEST(Text, HidesC1ControlsMarksOfDirectionAndStrayBytes) {
  EXPECT_EQ(printable("a\u009b31m\u0080b\u00a0c"), "a?31m?b\u00a0c");  // U+00A0 is no control
  EXPECT_EQ(printable("a\x9b"
                      "31m\xff\xc3"),
            "a?31m??");  // raw bytes, and one cut short
  for (const char* mark : {"\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c"}) {
    EXPECT_EQ(printable(std::string("x") + mark + "y"), "x?y");
  }
  EXPECT_EQ(printable("\u2029\u202f\u2065\u206a\u200d"), "\u2029\u202f\u2065\u206a\u200d");
}

TEST(Text, CountsCharactersNotBytes) {
  EXPECT_EQ(columns_of(""), 0);
  EXPECT_EQ(columns_of("abc"), 3);
  EXPECT_EQ(columns_of("\u2588\u2502x"), 3);  // three bytes each, one column each
}

TEST(Text, PadsToTheAskedColumns) {
  EXPECT_EQ(padded_right("\u2502", 3), "\u2502  ");
  EXPECT_EQ(padded_left("ab", 4), "  ab");
  EXPECT_EQ(padded_left("abcd", 2), "abcd");
}

TEST(Text, ShortensInTheMiddleAndKeepsMoreOfTheEnd) {
  EXPECT_EQ(shortened("short", 5), "short");
  // 9 columns: 3 for the cut, 2 of 6 from the front.
  EXPECT_EQ(shortened("models/mine/config.json", 9), "mo...json");
  EXPECT_EQ(shortened("abcdef", 3), "abc");
  EXPECT_EQ(columns_of(shortened("\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588", 5)), 5);
}

TEST(Text, BreaksLinesAtBlanks) {
  EXPECT_EQ(wrapped_lines("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped_lines("  one   two ", 20), (Lines{"one two"}));
  EXPECT_EQ(wrapped_lines("", 20), (Lines{""}));
}

TEST(Text, BreaksAWordThatIsLongerThanALineBehindItsLastMark) {
  EXPECT_EQ(wrapped_lines("a /very/long/path/of/model.json b", 12),
            (Lines{"a", "/very/long/", "path/of/", "model.json b"}));
  EXPECT_EQ(wrapped_lines("abcdefgh", 3), (Lines{"abc", "def", "gh"}));
  EXPECT_EQ(wrapped_lines("\u2588\u2588\u2588", 2), (Lines{"\u2588\u2588", "\u2588"}));
}

TEST(Text, CutsAWordOfVeryManyLines) {
  // Kept are 6 x 4 columns: 7 of 21 from the front, the mark of the cut, 14 from the end.
  EXPECT_EQ(wrapped_lines(std::string(20, 'a') + std::string(20, 'b'), 4),
            (Lines{"aaaa", "aaa.", "..", "bbbb", "bbbb", "bbbb", "bb"}));
}

TEST(Text, IndentsFollowingLinesAsFarAsTheFirstWords) {
  EXPECT_EQ(wrapped("one two three", 11, "Why "), "Why one two\n    three\n");
}

TEST(Text, TakesTheFirstCandidateThatFits) {
  EXPECT_EQ(first_that_fits({"a long one", "short"}, 10), "a long one");
  EXPECT_EQ(first_that_fits({"a long one", "short"}, 9), "short");
  // None does: the last one whole, on several lines.
  EXPECT_EQ(first_that_fits({"a long one", "another long one"}, 9), "another\n  long\n  one");
}

}  // namespace
}  // namespace fourhold::report

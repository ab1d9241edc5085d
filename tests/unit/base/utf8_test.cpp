#include "fourhold/base/utf8.h"

#include <gtest/gtest.h>

#include "fourhold/base/json.h"

namespace fourhold {
namespace {

// The ends of each form's range (RFC 3629, sec. 3).
TEST(Utf8, ReadsCharactersOfEveryLength) {
  struct Case {
    std::string_view text;
    char32_t code;
  };
  for (const Case& one : {Case{"\x7f", 0x7F}, Case{"\xc2\x80", 0x80}, Case{"\xdf\xbf", 0x7FF},
                          Case{"\xe0\xa0\x80", 0x800}, Case{"\xef\xbf\xbf", 0xFFFF},
                          Case{"\xf0\x90\x80\x80", 0x10000}, Case{"\xf4\x8f\xbf\xbf", 0x10FFFF}}) {
    const Utf8Character character = utf8_character_at(one.text, 0);
    EXPECT_EQ(character.code, one.code);
    EXPECT_EQ(character.bytes, one.text.size());
    EXPECT_EQ(valid_utf8(one.text), one.text);
  }
}

TEST(Utf8, InvalidBytesAreReplacedOneByOne) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("a\x9b z"), "a" + mark + " z");
  EXPECT_EQ(valid_utf8("\xc3"), mark);                                   // cut short
  EXPECT_EQ(valid_utf8("\xc0\x80"), mark + mark);                        // longer than needed
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), mark + mark + mark);             // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), mark + mark + mark + mark);  // above U+10FFFF
  EXPECT_EQ(valid_utf8("\xe2\x82x"), mark + mark + "x");
}

TEST(Utf8, JsonTextIsAlwaysValid) {
  const json::Value value = json::Object{{"k\xff", "v\x9b"}};
  EXPECT_EQ(json::write(value, json::Layout::one_line), "{\"k\xEF\xBF\xBD\": \"v\xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace fourhold

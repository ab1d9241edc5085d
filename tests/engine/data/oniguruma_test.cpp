#include "fourhold/engine/data/oniguruma.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/data/fault.h"

namespace fourhold::engine::data {
namespace {

std::string translated(const std::string& pattern) { return pcre2_of_oniguruma(pattern, "Regex"); }

TEST(Oniguruma, WhatBothReadAlikeStays) {
  for (const std::string pattern :
       {"'s|'t", R"(\p{N}{1,3})", R"( ?[^\r\n\p{L}]+[\r\n/]*)", "(?i:'ll)", "[A-Za-z]+",
        R"(\[\\\])", "a?+b*+", "(?=a)(?!b)(?<=c)(?<!d)(?>e)", "x{2}y{3,}"}) {
    EXPECT_EQ(translated(pattern), pattern);
  }
}

// Unicode's White_Space: U+0009 to U+000D, U+0020, U+0085 and the separators (PropList.txt).
TEST(Oniguruma, SpaceIsWhiteSpace) {
  EXPECT_EQ(translated(R"(\s+(?!\S))"), R"([\t-\r\x{85}\p{Z}]+(?![^\t-\r\x{85}\p{Z}]))");
  EXPECT_EQ(translated(R"([^\s\p{L}])"), R"([^\t-\r\x{85}\p{Z}\p{L}])");
}

// PCRE2 10.40 and later take \p{Han} for script extensions; Oniguruma does not.
TEST(Oniguruma, AScriptIsNotItsExtensions) {
  EXPECT_EQ(translated(R"(\p{Han}\P{Latin}\p{Lu})"), R"(\p{sc:Han}\P{sc:Latin}\p{Lu})");
}

TEST(Oniguruma, RefusesWhatTheTwoReadDifferently) {
  struct Case {
    std::string pattern;
    std::string construct;
  };
  const std::vector<Case> cases{{R"(a\h)", R"('\h' at byte 1)"},
                                {R"(\b)", R"('\b' at byte 0)"},
                                {R"(\d)", R"('\d')"},
                                {R"([a\S])", R"('\S' at byte 2)"},
                                {"[a[b]]", "'[b' at byte 2"},
                                {"[a&&b]", "'&&' at byte 2"},
                                {"(?m:a)", "'(?m:' at byte 0"},
                                {"(?<n>a)", "'(?<n' at byte 0"},
                                {"(*FAIL)", "'(*FA'"},
                                {"^a", "'^' at byte 0"},
                                {"a$", "'$'"},
                                {"a.", "'.'"},
                                {"a{,3}", "'{,3}' at byte 1"},
                                {"a{1,3}+", "'{1,3}+'"},
                                {"a{b}", "'{b}'"},
                                {R"(\p{^L})", R"('\p{^L}')"},
                                {R"(\pL)", ""},
                                {"[", "'['"},
                                {"[]", ""},
                                {R"(a\)", "byte 1"},
                                {R"(\1)", R"('\1')"},
                                {R"(\x41)", R"('\x')"}};
  for (const Case& item : cases) {
    const Fault fault = fault_of([&] { (void)translated(item.pattern); });
    EXPECT_EQ(fault.where, "Regex");
    EXPECT_TRUE(has(fault.what, item.construct)) << item.pattern << ": " << fault.what;
  }
}

}  // namespace
}  // namespace fourhold::engine::data

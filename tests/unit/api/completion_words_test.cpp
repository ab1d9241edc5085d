#include "fourhold/api/completion_words.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace fourhold::api {
namespace {

OptionInfo of(ValueKind kind) {
  OptionInfo option;
  option.kind = kind;
  return option;
}

TEST(CompletionWords, FlagsOfAVerbIncludeTheCommonOnesAndNoOperand) {
  const std::vector<OptionInfo> flags = flags_of(verb_named("params"));
  ASSERT_EQ(flags.size(), 4U);
  EXPECT_EQ(flags[0].flag, "--published");
  EXPECT_EQ(flags[1].flag, "--json");
  EXPECT_EQ(operands_of(verb_named("compare")).size(), 2U);
}

TEST(CompletionWords, NamesThatAreBuiltInCanBeCompleted) {
  for (const ValueKind kind : {ValueKind::device, ValueKind::model, ValueKind::profile}) {
    EXPECT_FALSE(words_of(of(kind)).empty());
    EXPECT_TRUE(takes_file(of(kind)));
  }
  EXPECT_TRUE(words_of(of(ValueKind::number)).empty());
  EXPECT_FALSE(takes_file(of(ValueKind::number)));
  EXPECT_TRUE(takes_file(of(ValueKind::file)));
}

}  // namespace
}  // namespace fourhold::api

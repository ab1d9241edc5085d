#include "fourhold/engine/checkpoint/rank_list.h"

#include <gtest/gtest.h>

#include <string>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

RankList example() {
  return {7,
          "token",
          {{"state-00002-of-00003.safetensors", 10, {0x1234}}},
          {{{"model.safetensors", 70'000'000, {0, 0xabcd}}, {1234, 99}}}};
}

TEST(RankList, IsReadAsItWasWritten) {
  const RankList list = example();
  const RankList read = parse_rank_list(write_rank_list(list), "list");
  EXPECT_EQ(read.step, 7);
  EXPECT_EQ(read.token, "token");
  EXPECT_EQ(read.files, list.files);
  ASSERT_EQ(read.shared.size(), 1U);
  EXPECT_EQ(read.shared.front().sum, list.shared.front().sum);
  EXPECT_EQ(read.shared.front().written, (WrittenBytes{1234, 99}));
}

TEST(RankList, NamesTheFieldThatIsWrong) {
  std::string text = write_rank_list(example());
  text.replace(text.find("\"written\""), 9, "\"writtne\"");
  try {
    (void)parse_rank_list(text, "list");
    FAIL() << "read";
  } catch (const Error& fault) {
    EXPECT_EQ(fault.where(), "list: shared[0].written");
  }
}

TEST(RankList, IsNamedByRankFromOne) {
  EXPECT_EQ(rank_list_name({1, 3}), "files-00002-of-00003.json");
}

}  // namespace
}  // namespace fourhold::engine

#include "fourhold/base/near_match.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace fourhold {
namespace {

const std::vector<std::string_view> kNames{"llama-3.1-8b", "llama-3.1-70b", "llama-3.2-1b",
                                           "gpt2",         "gpt2-xl",       "mixtral-8x7b"};

TEST(NearMatch, ATypoFindsItsName) {
  EXPECT_EQ(near_matches("mixtrall-8x7b", kNames), std::vector<std::string>{"mixtral-8x7b"});
  EXPECT_EQ(near_matches("gpt3", kNames).front(), "gpt2");
}

TEST(NearMatch, TwoSwappedNeighboursAreOneEdit) {
  EXPECT_EQ(near_matches("tpg2", {"gpt2"}).size(), 0U);  // two edits of four characters
  EXPECT_EQ(near_matches("gtp2", {"gpt2"}).size(), 1U);
}

TEST(NearMatch, CaseAndSeparatorsDoNotCount) {
  EXPECT_EQ(near_matches("Llama_3.1 8B", kNames).front(), "llama-3.1-8b");
}

TEST(NearMatch, APartOfANameFindsItAfterTheTypos) {
  const std::vector<std::string> found = near_matches("llama-3.1", kNames);
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[0], "llama-3.1-8b");
}

TEST(NearMatch, NearestComeFirstAndTiesByName) {
  EXPECT_EQ(near_matches("abcc", {"abcd", "abcb", "abc"}),
            (std::vector<std::string>{"abc", "abcb", "abcd"}));
}

TEST(NearMatch, WhatEndsTheWordIsMeant) {
  const std::vector<std::string_view> devices{"tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e"};
  EXPECT_EQ(near_matches("tpu-v5", devices), (std::vector<std::string>{"tpu-v5e", "tpu-v5p"}));
  EXPECT_EQ(near_matches("tpu", devices).size(), 5U);  // a few: all of them
  EXPECT_EQ(near_matches("tpu-v2", devices).size(), 3U);
  EXPECT_EQ(near_matches("abcd", {"abce", "abcdef"}), std::vector<std::string>{"abcdef"});
}

TEST(NearMatch, NothingNearGivesNothing) {
  EXPECT_TRUE(near_matches("zzzzzz", kNames).empty());
  EXPECT_TRUE(near_matches("", kNames).empty());
  EXPECT_TRUE(near_matches(std::string(1'000'000, 'l'), kNames).empty());
  EXPECT_EQ(did_you_mean("zzzzzz", kNames), "");
}

TEST(NearMatch, TheQuestionNamesAtMostThree) {
  EXPECT_EQ(did_you_mean("gpt3", {"gpt2"}), "did you mean 'gpt2'?");
  EXPECT_EQ(did_you_mean("aaaa", {"aaab", "aaac", "aaad", "aaae"}),
            "did you mean 'aaab', 'aaac' or 'aaad'?");
}

TEST(NearMatch, ASlipOfThePenIsOneEditOrInLongWordsTwo) {
  EXPECT_EQ(likely_meant("hiden_size", {"head_dim", "hidden_size"}), "hidden_size");
  EXPECT_EQ(likely_meant("numHiddenLayers", {"num_hidden_layers"}),
            "num_hidden_layers");                           // two "_"
  EXPECT_EQ(likely_meant("n_haed", {"n_head"}), "n_head");  // a swap
  EXPECT_EQ(likely_meant("n_laye", {"n_head", "n_layer"}), "n_layer");
  EXPECT_EQ(likely_meant("n_embed", {"n_hea"}), "");
  EXPECT_EQ(likely_meant("num_heads", {"num_layers"}), "");
  EXPECT_EQ(likely_meant("dim", {"dims"}), "");  // too short to tell
  EXPECT_EQ(likely_meant(std::string(1'000'000, 'n'), {"n_head"}), "");
}

}  // namespace
}  // namespace fourhold

#include "fourhold/engine/data/bpe_merges.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace fourhold::engine::data {
namespace {

using Ids = std::vector<TokenId>;
using Pair = std::pair<TokenId, TokenId>;

// The definition, step by step: join the leftmost pair of the lowest rank until none has a rank.
Ids joined_by_definition(Ids word, const std::map<Pair, std::int32_t>& ranks,
                         TokenId first_joined) {
  while (true) {
    std::size_t best = word.size();
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      const auto rank = ranks.find({word[i], word[i + 1]});
      if (rank == ranks.end()) continue;
      if (best == word.size() || rank->second < ranks.at({word[best], word[best + 1]})) best = i;
    }
    if (best == word.size()) return word;
    word[best] = first_joined + ranks.at({word[best], word[best + 1]});
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

RC_GTEST_PROP(BpeMerges, JoinsAsTheDefinitionSays, ()) {
  constexpr TokenId kLetters = 3;
  BpeMerges merges;
  std::map<Pair, std::int32_t> ranks;
  const int count = *rc::gen::inRange(0, 20);
  for (std::int32_t rank = 0; rank < count; ++rank) {
    // Any two tokens that exist so far.
    const auto token = rc::gen::inRange<TokenId>(0, kLetters + rank);
    const Pair pair{*token, *token};
    if (!ranks.emplace(pair, rank).second) break;
    RC_ASSERT(merges.add(pair.first, pair.second, rank, kLetters + rank));
  }
  Ids word = *rc::gen::container<Ids>(rc::gen::inRange<TokenId>(0, kLetters));
  const Ids expected = joined_by_definition(word, ranks, kLetters);
  merges.apply(word);
  RC_ASSERT(word == expected);
}

TEST(BpeMerges, APairHasOneRank) {
  BpeMerges merges;
  EXPECT_TRUE(merges.add(0, 1, 0, 2));
  EXPECT_FALSE(merges.add(0, 1, 1, 3));
  EXPECT_EQ(merges.size(), 1U);
}

TEST(BpeMerges, EmptyAndSingleWordsStay) {
  BpeMerges merges;
  merges.add(0, 0, 0, 1);
  Ids word;
  merges.apply(word);
  EXPECT_TRUE(word.empty());
  word = {0};
  merges.apply(word);
  EXPECT_EQ(word, (Ids{0}));
  word = {0, 0, 0};
  merges.apply(word);
  EXPECT_EQ(word, (Ids{1, 0}));  // the leftmost first
}

}  // namespace
}  // namespace fourhold::engine::data

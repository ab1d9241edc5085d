#include "fourhold/engine/sample/choose_token.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

struct Kept {
  std::vector<data::TokenId> ids;
  std::vector<double> probabilities;
};

Kept kept(std::vector<float> logits, const ChoiceRule& rule, std::int64_t known = -1) {
  const Tensor tensor{reinterpret_cast<std::byte*>(logits.data()), DType::fp32,
                      Dims{1, static_cast<std::int64_t>(logits.size())}};
  std::vector<Candidate> memory(logits.size());
  Kept result;
  for (const Candidate& candidate :
       candidates(tensor, known < 0 ? tensor.elements() : known, rule, memory)) {
    result.ids.push_back(candidate.id);
    result.probabilities.push_back(static_cast<double>(candidate.weight));
  }
  return result;
}

void expect_probabilities(const Kept& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.probabilities.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found.probabilities[i], expected[i], 1e-6) << i;
  }
}

using Ids = std::vector<data::TokenId>;

// Logits log 1, log 4, log 2, log 3: probabilities 0.1, 0.4, 0.2, 0.3.
std::vector<float> one_four_two_three() {
  return {std::log(1.0F), std::log(4.0F), std::log(2.0F), std::log(3.0F)};
}

TEST(ChooseToken, AtTemperatureOneProbabilitiesAreTheSoftmaxOfTheLogits) {
  const Kept found = kept(one_four_two_three(), {});
  EXPECT_EQ(found.ids, (Ids{0, 1, 2, 3}));
  expect_probabilities(found, {0.1, 0.4, 0.2, 0.3});
}

// Weights to the power 1 / T: 1, 16, 4, 9 of 30; and 1, 2, sqrt 2, sqrt 3.
TEST(ChooseToken, TemperatureSharpensAndFlattens) {
  expect_probabilities(kept(one_four_two_three(), {.temperature = 0.5}),
                       {1.0 / 30, 16.0 / 30, 4.0 / 30, 9.0 / 30});
  const double sum = 1 + 2 + std::sqrt(2.0) + std::sqrt(3.0);
  expect_probabilities(kept(one_four_two_three(), {.temperature = 2}),
                       {1 / sum, 2 / sum, std::sqrt(2.0) / sum, std::sqrt(3.0) / sum});
}

TEST(ChooseToken, TemperatureZeroTakesTheLikeliestAndOfEqualOnesTheFirst) {
  EXPECT_EQ(kept(one_four_two_three(), {.temperature = 0}).ids, Ids{1});
  EXPECT_EQ(kept({0, 5, 5, 1}, {.temperature = 0}).ids, Ids{1});
}

TEST(ChooseToken, TopKKeepsTheLikeliestAndSharesTheRestAmongThem) {
  const Kept two = kept(one_four_two_three(), {.top_k = 2});
  EXPECT_EQ(two.ids, (Ids{1, 3}));
  expect_probabilities(two, {4.0 / 7, 3.0 / 7});
  EXPECT_EQ(kept(one_four_two_three(), {.top_k = 4}).ids, (Ids{0, 1, 2, 3}));
  EXPECT_EQ(kept(one_four_two_three(), {.top_k = 9}).ids.size(), 4U);
  EXPECT_EQ(kept({1, 1, 1}, {.top_k = 2}).ids, (Ids{0, 1}));
}

// 0.4; 0.7; 0.9; 1.
TEST(ChooseToken, TopPKeepsTheFewestThatReachTheShare) {
  EXPECT_EQ(kept(one_four_two_three(), {.top_p = 0.39}).ids, Ids{1});
  EXPECT_EQ(kept(one_four_two_three(), {.top_p = 0.41}).ids, (Ids{1, 3}));
  const Kept three = kept(one_four_two_three(), {.top_p = 0.75});
  EXPECT_EQ(three.ids, (Ids{1, 3, 2}));
  expect_probabilities(three, {4.0 / 9, 3.0 / 9, 2.0 / 9});
  EXPECT_EQ(kept(one_four_two_three(), {.top_p = 0.95}).ids, (Ids{1, 3, 2, 0}));
}

// Of the three likeliest, 4, 3 and 2 of 9, two have 7/9 = 0.78.
TEST(ChooseToken, TopPIsAShareOfWhatTopKAndTemperatureLeave) {
  EXPECT_EQ(kept(one_four_two_three(), {.top_k = 3, .top_p = 0.77}).ids, (Ids{1, 3}));
  EXPECT_EQ(kept(one_four_two_three(), {.top_k = 3, .top_p = 0.79}).ids, (Ids{1, 3, 2}));
  // 16 of 30 at temperature 0.5.
  EXPECT_EQ(kept(one_four_two_three(), {.temperature = 0.5, .top_p = 0.53}).ids, Ids{1});
}

TEST(ChooseToken, RowsBeyondTheKnownTokensAreNeverChosen) {
  EXPECT_EQ(kept({0, 1, 100}, {.temperature = 0}, 2).ids, Ids{1});
  EXPECT_EQ(kept({0, 1, 100}, {}, 2).ids, (Ids{0, 1}));
}

TEST(ChooseToken, ReadsBf16) {
  std::vector<Bf16> logits{to_bf16(1.0F), to_bf16(3.0F), to_bf16(2.0F)};
  const Tensor tensor{reinterpret_cast<std::byte*>(logits.data()), DType::bf16, Dims{1, 3}};
  std::vector<Candidate> memory(3);
  EXPECT_EQ(candidates(tensor, 3, {.temperature = 0}, memory).front().id, 1);
}

TEST(ChooseToken, LogitsThatAreNotFiniteAreRefused) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    try {
      static_cast<void>(kept({0, bad}, {}));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("not finite"), std::string::npos);
    }
  }
}

TEST(ChooseToken, ADrawTakesTheCandidateAtItsShare) {
  const std::vector<Candidate> all{{0.25F, 7}, {0, 8}, {0.5F, 3}, {0.25F, 9}};
  EXPECT_EQ(draw(all, 0), 7);
  EXPECT_EQ(draw(all, 0.249), 7);
  EXPECT_EQ(draw(all, 0.25), 3);
  EXPECT_EQ(draw(all, 0.749), 3);
  EXPECT_EQ(draw(all, 0.75), 9);
  EXPECT_EQ(draw(all, 0x1.fffffffffffffp-1), 9);
}

// A share of 0.3 in 20,000 draws has a deviation of sqrt(0.3 x 0.7 / 20,000) = 0.0032.
TEST(ChooseToken, DrawsFollowTheProbabilities) {
  const std::vector<Candidate> all{{0.1F, 0}, {0.4F, 1}, {0.2F, 2}, {0.3F, 3}};
  std::vector<double> counts(4);
  for (std::int64_t i = 0; i < 20'000; ++i) {
    counts[static_cast<std::size_t>(draw(all, share_of_token(11, i)))] += 1.0 / 20'000;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(counts[i], static_cast<double>(all[i].weight), 5 * 0.0035) << i;
  }
}

TEST(ChooseToken, SharesDependOnSeedAndNumber) {
  EXPECT_EQ(share_of_token(1, 5), share_of_token(1, 5));
  EXPECT_NE(share_of_token(1, 5), share_of_token(2, 5));
  EXPECT_NE(share_of_token(1, 5), share_of_token(1, 6));
}

RC_GTEST_PROP(ChooseToken, WhatIsKeptIsLikelierThanWhatIsNotAndAddsUpToOne, ()) {
  const auto steps =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-20, 21)));
  std::vector<float> logits;
  for (const int step : steps) logits.push_back(static_cast<float>(step) / 4);
  const auto k = *rc::gen::inRange<std::int64_t>(0, 12);
  const double p = *rc::gen::inRange(1, 101) / 100.0;
  const Kept found = kept(logits, {.temperature = 0.7, .top_k = k, .top_p = p});
  RC_ASSERT(!found.ids.empty());
  RC_ASSERT(k == 0 || static_cast<std::int64_t>(found.ids.size()) <= k);
  const double sum = std::accumulate(found.probabilities.begin(), found.probabilities.end(), 0.0);
  RC_ASSERT(std::abs(sum - 1) < 1e-5);
  std::vector<bool> is_kept(logits.size());
  float least = std::numeric_limits<float>::infinity();
  for (const data::TokenId id : found.ids) {
    is_kept[static_cast<std::size_t>(id)] = true;
    least = std::min(least, logits[static_cast<std::size_t>(id)]);
  }
  for (std::size_t i = 0; i < logits.size(); ++i) RC_ASSERT(is_kept[i] || logits[i] <= least);
}

}  // namespace
}  // namespace fourhold::engine

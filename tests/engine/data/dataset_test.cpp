#include "fourhold/engine/data/dataset.h"

#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace fourhold::engine::data {
namespace {

using Ids = std::vector<TokenId>;

TokenSource counting(int count) {
  std::vector<std::uint16_t> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), std::uint16_t{0});
  return {std::move(tokens), {}};
}

TEST(Dataset, SplitsTheTailOffAndOrdersTheRest) {
  const TokenSource source = counting(1001);  // 100 sequences of 10
  const Dataset dataset(source, {.length = 10, .seed = 3, .held_out_share = 0.05});
  EXPECT_EQ(dataset.split(), (Split{95, 5}));
  EXPECT_EQ(dataset.order().count(), 95);
  // One epoch in batches of 19 reads the first 950 inputs once each, and no held-out one.
  std::set<TokenId> seen;
  DataPosition position;
  Ids inputs(190);
  Ids targets(190);
  for (int step = 0; step < 5; ++step) {
    EXPECT_EQ(dataset.fill(position, 0, inputs, targets), 190);
    seen.insert(inputs.begin(), inputs.end());
    for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(targets[i], inputs[i] + 1);
    position = dataset.order().after(position, 19);
  }
  EXPECT_EQ(seen.size(), 950U);
  EXPECT_EQ(*seen.rbegin(), 949);
  EXPECT_EQ(position, (DataPosition{1, 0}));
}

TEST(Dataset, HeldOutRowsAreTheTailInItsOrder) {
  const TokenSource source = counting(1001);
  const Dataset dataset(source, {.length = 10, .seed = 3, .held_out_share = 0.05});
  Ids inputs(50);
  Ids targets(50);
  EXPECT_EQ(dataset.fill_held_out(0, inputs, targets), 50);
  Ids expected(50);
  std::iota(expected.begin(), expected.end(), 950);
  EXPECT_EQ(inputs, expected);
}

// Two ranks with two rows each, four with one, and one with four must read the same global batch.
RC_GTEST_PROP(Dataset, RowsAreTheSameForEverySplitOfTheBatch, (std::uint64_t seed)) {
  static const TokenSource source = counting(400);
  const Dataset dataset(source, {.length = 3, .seed = seed});
  const DataPosition position{*rc::gen::inRange<std::int64_t>(0, 5),
                              *rc::gen::inRange<std::int64_t>(0, dataset.order().count())};
  const std::int64_t global_batch = 12;
  Ids whole(36);
  Ids whole_targets(36);
  dataset.fill(position, 0, whole, whole_targets);
  const auto ranks = *rc::gen::element<std::int64_t>(1, 2, 3, 4, 6, 12);
  const std::int64_t rows = global_batch / ranks;
  Ids together;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    Ids part(static_cast<std::size_t>(rows * 3));
    Ids targets(part.size());
    dataset.fill(position, rank * rows, part, targets);
    together.insert(together.end(), part.begin(), part.end());
  }
  RC_ASSERT(together == whole);
}

// huggingface/accelerate#2016 and transformers PR #46628: a run resumed in the middle of an epoch
// read other data than the uninterrupted one.
TEST(Dataset, ResumingInTheMiddleOfAnEpochReadsTheSameBatches) {
  const TokenSource source = counting(700);
  const Dataset uninterrupted(source, {.length = 4, .seed = 9});
  const Dataset resumed(source, {.length = 4, .seed = 9});
  DataPosition position;
  for (int step = 0; step < 10; ++step) position = uninterrupted.order().after(position, 7);
  DataPosition again =
      position_from_json(to_json(position, uninterrupted.order()), resumed.order(), "state");
  for (int step = 10; step < 60; ++step) {
    Ids a(28);
    Ids b(28);
    Ids targets(28);
    uninterrupted.fill(position, 0, a, targets);
    resumed.fill(again, 0, b, targets);
    ASSERT_EQ(a, b) << step;
    position = uninterrupted.order().after(position, 7);
    again = resumed.order().after(again, 7);
  }
  EXPECT_GT(position.epoch, 1);
}

}  // namespace
}  // namespace fourhold::engine::data

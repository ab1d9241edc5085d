// Every split trains what one rank trains: the same loss each step, the same weights in the end,
// holding the bytes and sending the bytes that were predicted for each rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fourhold/engine/data/builtin_text.h"
#include "tests/engine/splits/named_splits.h"
#include "tests/engine/splits/split_run.h"

namespace fourhold::engine::testing {
namespace {

// Loss of a step, relative: sums in another order.
constexpr double kLossTolerance = 1e-5;
constexpr double kLossTolerance16 = 5e-3;
// Of weights, relative to what their layer has moved.
constexpr double kWeightTolerance = 1e-4;

// The built-in text in sequences of `seq`; made once for each vocabulary.
const data::Dataset& text_of(std::int64_t vocabulary, std::int64_t seq) {
  struct Text {
    data::TokenSource source;
    data::Dataset dataset;
    Text(std::int64_t ids, std::int64_t length)
        : source(data::builtin_tokens(ids)),
          dataset(source, {.length = length, .seed = 5, .held_out_share = 0}) {}
  };
  static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Text>> made;
  std::unique_ptr<Text>& own = made[{vocabulary, seq}];
  if (!own) own = std::make_unique<Text>(vocabulary, seq);
  return own->dataset;
}

void expect_same_losses(const SplitOutcome& found, const SplitOutcome& expected, double tolerance) {
  ASSERT_EQ(found.losses.size(), expected.losses.size());
  for (std::size_t i = 0; i < found.losses.size(); ++i) {
    EXPECT_NEAR(found.losses[i], expected.losses[i], tolerance * expected.losses[i])
        << "at step " << i + 1;
  }
}

void expect_no_faults(const SplitOutcome& outcome) {
  for (std::size_t i = 0; i < std::min<std::size_t>(outcome.faults.size(), 12); ++i) {
    ADD_FAILURE() << outcome.faults[i];
  }
}

// Of the tensors of one layer together: how far training has moved them.
std::map<std::string, double> movement_of_layers(
    const std::map<std::string, std::vector<double>>& before,
    const std::map<std::string, std::vector<double>>& after) {
  std::map<std::string, double> squares;
  for (const auto& [name, values] : after) {
    double& sum = squares[name.substr(0, name.rfind('.'))];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double moved = values[i] - before.at(name)[i];
      sum += moved * moved;
    }
  }
  for (auto& [layer, sum] : squares) sum = std::sqrt(sum);
  return squares;
}

// With plain gradient descent what a tensor has moved is the sum of its gradients: it may differ by
// a share of what its layer's gradients are.
void expect_same_weights(const SplitOutcome& found, const SplitOutcome& expected,
                         const std::map<std::string, std::vector<double>>& before,
                         double tolerance) {
  const auto moved = movement_of_layers(before, expected.weights);
  ASSERT_EQ(found.weights.size(), expected.weights.size());
  for (const auto& [name, values] : expected.weights) {
    const std::vector<double>& other = found.weights.at(name);
    ASSERT_EQ(other.size(), values.size()) << name;
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      squares += (other[i] - values[i]) * (other[i] - values[i]);
    }
    const double of_layer = moved.at(name.substr(0, name.rfind('.')));
    EXPECT_GT(of_layer, 0) << name;
    EXPECT_LE(std::sqrt(squares), tolerance * of_layer) << name;
  }
}

using Case = std::tuple<SmallModel, NamedSplit>;

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  constexpr std::array<const char*, 3> kNames{"gpt2", "llama", "qwen3"};
  return std::string(kNames[static_cast<std::size_t>(std::get<0>(info.param))]) + "_" +
         std::get<1>(info.param).name;
}

auto all_of(const std::vector<NamedSplit>& splits) {
  return ::testing::Combine(::testing::Values(SmallModel::gpt2, SmallModel::llama),
                            ::testing::ValuesIn(splits));
}

class Splits : public ::testing::TestWithParam<Case> {};

TEST_P(Splits, LoseWhatOneRankLoses) {
  const auto& [model, split] = GetParam();
  const SplitSetup setup = split_setup(model, split.plan);
  const data::Dataset& text = text_of(setup.config.vocab, setup.plan.seq);
  const SplitOutcome expected = train_split(on_one_rank(setup), text);
  expect_no_faults(expected);
  const SplitOutcome found = train_split(setup, text);
  expect_no_faults(found);
  expect_same_losses(found, expected, kLossTolerance);
  EXPECT_LT(found.losses.back(), found.losses.front()) << "it learns";
}

INSTANTIATE_TEST_SUITE_P(All, Splits, all_of(all_splits()), name_of);

class SplitWeights : public ::testing::TestWithParam<Case> {};

TEST_P(SplitWeights, MoveAsOnOneRankAndTheSameEachTime) {
  const auto& [model, split] = GetParam();
  plan::Plan plan = split.plan;
  plan.optimizer = plan::Optimizer::sgd_momentum;
  SplitSetup setup = split_setup(model, plan);
  setup.steps = 6;
  const data::Dataset& text = text_of(setup.config.vocab, setup.plan.seq);
  const SplitOutcome expected = train_split(on_one_rank(setup), text);
  const SplitOutcome found = train_split(setup, text);
  expect_no_faults(found);
  expect_same_weights(found, expected, first_weights(setup, text), kWeightTolerance);
  EXPECT_EQ(train_split(setup, text).digests, found.digests) << "it repeats itself bit for bit";
}

INSTANTIATE_TEST_SUITE_P(All, SplitWeights, all_of(combined_splits()), name_of);

class NarrowSplits : public ::testing::TestWithParam<Case> {};

TEST_P(NarrowSplits, LoseWhatOneRankLosesWithinTheRoundingOfBf16) {
  const auto& [model, split] = GetParam();
  SplitSetup setup = split_setup(model, split.plan, plan::Precision::bf16);
  // A rate at which steps do not amplify the rounding that they begin with.
  setup.options.schedule.peak = setup.options.schedule.minimum = 1e-3;
  const data::Dataset& text = text_of(setup.config.vocab, setup.plan.seq);
  const SplitOutcome expected = train_split(on_one_rank(setup), text);
  const SplitOutcome found = train_split(setup, text);
  expect_no_faults(found);
  expect_same_losses(found, expected, kLossTolerance16);
}

INSTANTIATE_TEST_SUITE_P(All, NarrowSplits, all_of(combined_splits()), name_of);

}  // namespace
}  // namespace fourhold::engine::testing

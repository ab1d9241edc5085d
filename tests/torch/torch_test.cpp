// Logits, loss, gradients and twenty steps of training beside Debian's python3-torch
// (reference.py).
//
// Tolerances follow from the unit roundoff u of the type, 2^-24 or 2^-9, and the roundings on the
// way: errors of independent operations add like their squares. A layer has ten that are rounded,
// one after the other, in forward (norm, q k v, attention, output, sum; norm, up, activation, down,
// sum), and ten in backward. A sum of K products of either sign, rounded after each, is off by
// about u sqrt(K / 6) of its norm: in fp32 that is what a rounding means here. bf16 sums in fp32
// and rounds the result once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/torch/comparison.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine::torch_oracle {
namespace {

constexpr int kLayers = 3;
constexpr int kForward = 10 * kLayers + 2;         // roundings up to the logits
constexpr int kForwardAndBackward = 2 * kForward;  // and down to any gradient
constexpr double kLongestSum = 384;                // GPT-2's inner width

double roundoff(plan::Precision precision) {
  return precision == plan::Precision::fp32 ? 0x1p-24 : 0x1p-9;
}

// Of a chain of operations, relative to the result's norm.
double relative_error(plan::Precision precision, int roundings) {
  const double in_one = precision == plan::Precision::fp32 ? kLongestSum / 6 : 1;
  return roundoff(precision) * std::sqrt(in_one * roundings);
}

double norm_of(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

double distance(std::span<const float> a, std::span<const float> b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += std::pow(static_cast<double>(a[i]) - b[i], 2);
  }
  return std::sqrt(squares);
}

// Six standard deviations: of some 800 values none lies beyond.
void expect_log_probabilities(const Point& point, const TorchPoint& torch,
                              plan::Precision precision) {
  const auto torch_at = [&](std::int64_t place, std::int64_t target) {
    return torch.log_probabilities[static_cast<std::size_t>(place * kVocabulary + target)];
  };
  for (const LogProbability& each : point.log_probabilities) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t target = 0; target < kVocabulary; ++target) {
      sum += torch_at(each.place, target);
      squares += std::pow(torch_at(each.place, target), 2);
    }
    const double mean = sum / kVocabulary;
    const double deviation = std::sqrt(squares / kVocabulary - mean * mean);  // the logits' own
    EXPECT_NEAR(each.ours, torch_at(each.place, each.target),
                6 * relative_error(precision, kForward) * deviation)
        << point.name << ", place " << each.place << ", target " << each.target;
  }
}

// The layer of "layer.2.q_weight"; embedding and head are one each.
std::string layer_of(const std::string& parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

// The norm a parameter's gradient would have if all elements of its layer were of one size: a
// parameter whose own norm is smaller is what is left of larger terms, and has their rounding.
std::map<std::string, double> even_shares(const Gradients& gradients) {
  std::map<std::string, double> squares;
  std::map<std::string, double> elements;
  for (const auto& [name, values] : gradients) {
    squares[layer_of(name)] += std::pow(norm_of(values), 2);
    elements[layer_of(name)] += static_cast<double>(values.size());
  }
  std::map<std::string, double> shares;
  for (const auto& [name, values] : gradients) {
    const std::string layer = layer_of(name);
    shares[name] = std::sqrt(squares[layer] * static_cast<double>(values.size()) / elements[layer]);
  }
  return shares;
}

bool is_key_bias(const std::string& name) { return name.ends_with(".k_bias"); }

// Twice the expected error, relative to the gradient's norm or its share of the layer's.
void expect_gradients(const Point& point, const TorchPoint& torch, plan::Precision precision) {
  const std::map<std::string, double> shares = even_shares(torch.gradients);
  ASSERT_EQ(point.ours.gradients.size(), torch.gradients.size());
  for (const auto& [name, expected] : torch.gradients) {
    if (is_key_bias(name)) continue;
    const std::vector<float>& ours = point.ours.gradients.at(name);
    ASSERT_EQ(ours.size(), expected.size()) << name;
    const double scale = std::max(norm_of(expected), shares.at(name));
    EXPECT_LT(distance(ours, expected), 2 * relative_error(precision, kForwardAndBackward) * scale)
        << point.name << ", " << name << ", norm " << norm_of(expected);
    if (layer_of(name) != "embedding") continue;
    // Rows that no token of the batch reads: there is nothing to round.
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (expected[i] != 0) continue;
      ASSERT_EQ(ours[i], 0) << point.name << ", " << name << ", element " << i;
    }
  }
}

// A key's bias adds the same number to all scores of a query, which softmax does not see: its
// gradient is 0, and what is found is the rounding of the terms that cancel. On both sides that is
// less than two roundings of the layer's even share; a true gradient, that of the query's bias, is
// far above.
void expect_key_bias_is_noise(const Point& point, const TorchPoint& torch,
                              plan::Precision precision) {
  const std::map<std::string, double> shares = even_shares(torch.gradients);
  int found = 0;
  for (const auto& [name, expected] : torch.gradients) {
    if (!is_key_bias(name)) continue;
    ++found;
    const double ours = norm_of(point.ours.gradients.at(name));
    EXPECT_LT(ours, 2 * roundoff(precision) * shares.at(name)) << point.name << ", " << name;
    EXPECT_LT(norm_of(expected), 2 * 0x1p-24 * shares.at(name)) << point.name << ", " << name;
    if (point.name != "start") continue;
    const double query = norm_of(torch.gradients.at(layer_of(name) + ".q_bias"));
    EXPECT_GT(query, 50 * ours) << name;
  }
  EXPECT_EQ(found, kLayers);
}

struct LossTolerance {
  double relative = 0;
  double norm = 0;  // of the gradient norm, relative
};

void expect_steps(const Comparison& both, LossTolerance tolerance) {
  ASSERT_EQ(both.steps.size(), static_cast<std::size_t>(kSteps));
  ASSERT_EQ(both.torch.steps.size(), both.steps.size());
  int clipped = 0;
  for (std::size_t i = 0; i < both.steps.size(); ++i) {
    const TorchStep& torch = both.torch.steps[i];
    EXPECT_NEAR(both.steps[i].loss, torch.loss, tolerance.relative * torch.loss)
        << "step " << i + 1;
    EXPECT_NEAR(both.steps[i].gradient_norm, torch.norm, tolerance.norm * torch.norm)
        << "step " << i + 1;
    if (torch.norm > step_options().clip_norm) ++clipped;
  }
  // The run is one that tells: some steps are clipped, some are not, and it learns.
  EXPECT_GT(clipped, 0);
  EXPECT_LT(clipped, kSteps);
  EXPECT_LT(both.torch.steps.back().loss, 0.85 * both.torch.steps.front().loss);
}

void expect_agreement(Family family, plan::Precision precision, LossTolerance tolerance) {
  const model::TestFolder folder;
  const Comparison both = run_both(family, precision, folder.path());
  ASSERT_EQ(both.torch.points.size(), both.points.size());
  for (std::size_t i = 0; i < both.points.size(); ++i) {
    const Point& point = both.points[i];
    const TorchPoint& torch = both.torch.points[i];
    EXPECT_NEAR(point.ours.loss, torch.loss, tolerance.relative * torch.loss) << point.name;
    expect_log_probabilities(point, torch, precision);
    expect_gradients(point, torch, precision);
    if (family == Family::gpt2) expect_key_bias_is_noise(point, torch, precision);
  }
  expect_steps(both, tolerance);
}

// The goal is 1e-4 and 0.5 %: what is found is far closer, and must stay so, or a fault as small as
// decaying the norms would pass.
constexpr LossTolerance kFp32{.relative = 1e-5, .norm = 1e-4};
constexpr LossTolerance kBf16{.relative = 5e-3, .norm = 5e-2};

TEST(Torch, Gpt2InFp32IsTorchsInLogitsGradientsAndTwentySteps) {
  expect_agreement(Family::gpt2, plan::Precision::fp32, kFp32);
}

TEST(Torch, LlamaWithGroupedQueriesInFp32IsTorchsInLogitsGradientsAndTwentySteps) {
  expect_agreement(Family::llama, plan::Precision::fp32, kFp32);
}

TEST(Torch, MistralWithASlidingWindowInFp32IsTorchsInLogitsGradientsAndTwentySteps) {
  expect_agreement(Family::mistral, plan::Precision::fp32, kFp32);
}

TEST(Torch, Gpt2InBf16IsTorchsWithinItsRounding) {
  expect_agreement(Family::gpt2, plan::Precision::bf16, kBf16);
}

TEST(Torch, LlamaWithGroupedQueriesInBf16IsTorchsWithinItsRounding) {
  expect_agreement(Family::llama, plan::Precision::bf16, kBf16);
}

TEST(Torch, MistralWithASlidingWindowInBf16IsTorchsWithinItsRounding) {
  expect_agreement(Family::mistral, plan::Precision::bf16, kBf16);
}

}  // namespace
}  // namespace fourhold::engine::torch_oracle

// The gradients that the lowered program makes, against central differences of the loss that its
// forward makes: for every parameter tensor of every family, under every switch and policy.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/plan/lora_targets.h"
#include "tests/interpreter/counter_random.h"
#include "tests/interpreter/fault.h"
#include "tests/interpreter/models.h"
#include "tests/interpreter/plans.h"
#include "tests/interpreter/simulation.h"

namespace fourhold::interpreter {
namespace {

using model::ModelConfig;

// A central difference with step h is off by h^2 / 6 times the third derivative, near 1e-10, and by
// the rounding of two losses near 3, 2e-16 x 3 x a few operations / h, near 1e-9.
constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;  // relative to the norm of the tensor's gradient
constexpr double kRounding = 1e-9;
constexpr std::size_t kSample = 20;  // elements checked of a larger tensor

double norm_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Elements to check: all of a small tensor, else a fixed sample.
std::vector<std::size_t> sample_of(const ParameterKey& key, std::size_t size) {
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < std::min(size, kSample); ++i) {
    const std::uint64_t random =
        random_bits({static_cast<std::int64_t>(key.name), key.layer, static_cast<std::int64_t>(i)});
    sample.push_back(size <= kSample ? i : random % size);
  }
  return sample;
}

// Two sequences in one micro-batch: a thousand losses are taken for each model.
plan::Plan two_sequences(const ModelConfig& config) {
  plan::Plan plan;
  plan.global_batch = 2;
  return finished(plan, config);
}

void check_differences(const ModelConfig& config, const plan::Plan& plan,
                       const plan::Profile& profile) {
  const Simulation simulation(config, plan, profile);
  ParameterValues values = make_parameters(config, plan::switches_of(plan, profile));
  const Outcome outcome = simulation.train_step(values);
  EXPECT_EQ(outcome.loss, simulation.evaluate(values));
  EXPECT_FALSE(outcome.gradients.empty());
  for (const auto& [key, gradient] : outcome.gradients) {
    const double norm = norm_of(gradient);
    // The same number added to all scores of a query changes nothing: unless something rotates or
    // normalises between, a bias of k has no gradient.
    if (key.name != model::TensorName::k_bias) {
      EXPECT_GT(norm, 1e-4) << to_string(key);
    }
    for (const std::size_t i : sample_of(key, gradient.size())) {
      double& value = values[key][i];
      const double before = value;
      value = before + kStep;
      const double above = simulation.evaluate(values);
      value = before - kStep;
      const double below = simulation.evaluate(values);
      value = before;
      const double slope = (above - below) / (2 * kStep);
      ASSERT_NEAR(gradient[i], slope, kTolerance * norm + kRounding)
          << to_string(key) << " element " << i;
    }
  }
}

void expect_gradients_match_differences(const NamedModel& model, const plan::Plan& plan,
                                        const plan::Profile& profile) {
  SCOPED_TRACE(model.name);
  try {
    check_differences(model.config, plan, profile);
  } catch (const ProgramFault& fault) {
    ADD_FAILURE() << fault.what();
  }
}

// Recomputation may change no bit of the result: it makes the same numbers from the same numbers.
void expect_recompute_changes_nothing(const NamedModel& model, const plan::Profile& profile,
                                      const std::vector<std::string>& policies) {
  const plan::Plan plan = one_rank(model.config);
  const ParameterValues values = make_parameters(model.config, plan::switches_of(plan, profile));
  const Outcome expected = Simulation(model.config, plan, profile).train_step(values);
  for (const std::string& policy : policies) {
    SCOPED_TRACE(model.name + " with recompute " + policy);
    plan::Plan recomputing = plan;
    recomputing.recompute = plan::recompute_from_string(policy);
    try {
      const Outcome found = Simulation(model.config, recomputing, profile).train_step(values);
      EXPECT_EQ(found.loss, expected.loss);
      const Difference apart = difference(expected.gradients, found.gradients);
      EXPECT_EQ(apart.relative, 0) << apart.where;
    } catch (const ProgramFault& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
}

const std::vector<std::string> kPolicies{"selective",
                                         "selective:norm",
                                         "selective:activation",
                                         "selective:attention,norm",
                                         "selective:norm,activation",
                                         "selective:attention,norm,activation",
                                         "full",
                                         "full:1"};
const std::vector<std::string> kExpertPolicies{"selective:experts", "selective:norm,experts",
                                               "selective:attention,norm,activation,experts"};

bool has_experts(const ModelConfig& config) {
  return std::any_of(config.kinds.begin(), config.kinds.end(), [](const model::LayerKind& kind) {
    return kind.feed_forward.kind == model::FeedForwardKind::experts;
  });
}

// Profiles of every way to keep what attention, norms, activations and the loss need, each with
// models on which it changes something.
struct Variant {
  std::string name;
  std::vector<NamedModel> models;
  plan::Profile profile = any_profile();
};

std::vector<Variant> variants() {
  const NamedModel gpt2{"gpt2", with_dropout(tiny_gpt2(2))};
  const NamedModel gpt_oss{"gpt_oss", tiny_gpt_oss(2)};
  const NamedModel gemma2{"gemma2", tiny_gemma2(2)};
  std::vector<Variant> list;
  const auto variant = [&](const std::string& name,
                           const std::vector<NamedModel>& models) -> model::Switches& {
    list.push_back({name, models});
    return list.back().profile.switches;
  };
  variant("unfused attention", {gpt2, gpt_oss}).attention = model::AttentionSaving::unfused;
  variant("unfused attention in fp32", {gpt2, gemma2}).attention =
      model::AttentionSaving::unfused_wide;
  variant("flash attention into another layout", {gpt2, gpt_oss}).attention =
      model::AttentionSaving::flash_merged;
  variant("norms that keep wide copies", {gemma2}).norm = model::NormSaving::wide;
  variant("unfused activation", {gpt_oss, gemma2}).activation = model::ActivationSaving::unfused;
  variant("loss in place", {gpt2, gemma2}).loss = model::LossSaving::in_place;
  variant("vocab-parallel loss", {gemma2}).loss = model::LossSaving::vocab_parallel;
  variant("eager loss", {gemma2}).loss = model::LossSaving::eager;
  variant("eager loss that holds its logits", {gemma2}).loss = model::LossSaving::eager_held;
  model::Switches& experts = variant("experts scaled inside, permuted rows dropped", {gpt_oss});
  experts.expert_scaling = model::ExpertScaling::inside_activation;
  experts.keep_permuted_rows = false;
  NamedModel plain{"plain experts", tiny_gpt_oss(2)};
  for (model::LayerKind& kind : plain.config.kinds) kind.feed_forward.gated = false;
  variant("plain experts scaled inside", {plain}).expert_scaling =
      model::ExpertScaling::inside_activation;
  return list;
}

TEST(Gradients, OfEveryFamilyAreThoseOfTheForward) {
  for (const NamedModel& model : all_models(2)) {
    expect_gradients_match_differences(model, two_sequences(model.config), any_profile());
  }
}

TEST(Gradients, UnderEverySwitchAreThoseOfTheForward) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    for (const NamedModel& model : variant.models) {
      expect_gradients_match_differences(model, two_sequences(model.config), variant.profile);
    }
  }
}

TEST(Gradients, AreTheSameWhateverIsRecomputed) {
  std::vector<Variant> all = variants();
  all.push_back({"default", {}});
  for (const Variant& variant : all) {
    SCOPED_TRACE(variant.name);
    for (const NamedModel& model : all_models(2)) {
      expect_recompute_changes_nothing(model, variant.profile, kPolicies);
      if (has_experts(model.config)) {
        expect_recompute_changes_nothing(model, variant.profile, kExpertPolicies);
      }
    }
  }
}

TEST(Gradients, OfAChunkedLossAreThoseOfTheForward) {
  for (const NamedModel& model :
       {NamedModel{"gpt2", tiny_gpt2(2)}, NamedModel{"gemma2", tiny_gemma2(2)},
        NamedModel{"opt", tiny_opt(2)}, NamedModel{"bloom", tiny_bloom(2)}}) {
    plan::Plan plan = two_sequences(model.config);
    plan.loss_chunk = 5;  // 16 tokens: the last chunk is a short one
    expect_gradients_match_differences(model, plan, any_profile());
  }
}

TEST(Gradients, OfAChunkedLossAreThoseOfAWholeOne) {
  for (const NamedModel& model : all_models(2)) {
    SCOPED_TRACE(model.name);
    const plan::Plan whole = one_rank(model.config);
    plan::Plan chunked = whole;
    chunked.loss_chunk = 5;
    const ParameterValues values =
        make_parameters(model.config, plan::switches_of(whole, any_profile()));
    const Outcome expected = Simulation(model.config, whole, any_profile()).train_step(values);
    const Outcome found = Simulation(model.config, chunked, any_profile()).train_step(values);
    EXPECT_NEAR(found.loss, expected.loss, 1e-12 * expected.loss);
    const Difference apart = difference(expected.gradients, found.gradients);
    EXPECT_LT(apart.relative, 1e-12) << apart.where;
  }
}

TEST(Gradients, OfAdaptersAreThoseOfTheForward) {
  for (const NamedModel& model :
       {NamedModel{"gpt2", tiny_gpt2(2)}, NamedModel{"llama", tiny_llama(2)},
        NamedModel{"deepseek", tiny_deepseek(2, 5)}, NamedModel{"nemotron", tiny_nemotron()}}) {
    plan::Plan plan = two_sequences(model.config);
    plan.tuning = plan::Tuning::lora;
    plan.lora_rank = 2;
    expect_gradients_match_differences(model, plan, any_profile());
  }
}

TEST(Gradients, OfAdaptersAreThoseOfTheForwardHoweverTheyAreFed) {
  for (const plan::Profile& profile : adapter_profiles()) {
    for (const NamedModel& model :
         {NamedModel{"gpt2", tiny_gpt2(2)}, NamedModel{"llama", tiny_llama(2)}}) {
      plan::Plan plan = two_sequences(model.config);
      plan.tuning = plan::Tuning::qlora;
      plan.lora_rank = 2;
      plan.lora_targets = plan::lora_targets_from_string("q,v,o,down");
      plan.lora_dropout = 0.1;
      plan.modules_to_save = model::TrainedModules::embedding_head;
      expect_gradients_match_differences(model, plan, profile);
    }
  }
}

TEST(Gradients, WithAdaptersOnlyAdaptersHaveAny) {
  const ModelConfig config = tiny_llama(2);
  plan::Plan plan = one_rank(config);
  plan.tuning = plan::Tuning::lora;
  plan.lora_rank = 2;
  const ParameterValues values = make_parameters(config, plan::switches_of(plan, any_profile()));
  const Outcome outcome = Simulation(config, plan, any_profile()).train_step(values);
  // q, k, v, o, gate, up and down: an A and a B each, in two layers.
  EXPECT_EQ(outcome.gradients.size(), 2U * 2U * 7U);
  for (const auto& [key, gradient] : outcome.gradients) {
    EXPECT_NE(key.variant, model::Variant::plain) << to_string(key);
  }
  for (const auto& [key, weight] : outcome.weights) {
    const bool moved = weight != values.at(key);
    EXPECT_EQ(moved, key.variant != model::Variant::plain) << to_string(key);
  }
}

}  // namespace
}  // namespace fourhold::interpreter

#include "fourhold/predict/expanded_ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "fourhold/ledger/timeline.h"
#include "fourhold/predict/memory.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold {
namespace {

plan::Profile random_profile() {
  plan::Profile profile = plan::load_profile(test::pick<std::string>(
      {"standard", "standard", "megatron", "fsdp2", "deepspeed", "fourhold"}));
  profile.gradient_lifetime = test::pick<plan::GradientLifetime>(
      {plan::GradientLifetime::persistent, plan::GradientLifetime::backward_to_step});
  profile.zero_stages = {0, 1, 2, 3};
  profile.splits = {"tp", "sp", "pp", "vpp", "cp", "ep", "offload"};
  profile.switches.norm =
      test::pick<model::NormSaving>({model::NormSaving::input, model::NormSaving::wide});
  profile.switches.loss = test::pick<model::LossSaving>(
      {model::LossSaving::in_place, model::LossSaving::vocab_parallel, model::LossSaving::wide,
       model::LossSaving::eager, model::LossSaving::eager_held});
  return profile;
}

// The compact ledger is arithmetic over whole blocks; the expanded one walks every step. They must
// agree to the byte on every stage, in total and by category.
RC_GTEST_PROP(ExpandedLedger, has_the_live_peak_of_the_compact_ledger, ()) {
  const model::ModelConfig config = test::small_model(
      test::pick<std::string>({"llama", "gpt2", "mixtral", "gemma2", "deepseek_v2"}));
  const plan::Profile profile = random_profile();
  const std::optional<plan::Plan> plan = test::random_plan(config, profile);
  RC_PRE(plan.has_value());
  const predict::MemoryPrediction compact = predict::predict_memory(config, *plan, profile);
  for (const predict::StageMemory& stage : compact.stages) {
    const ledger::Ledger expanded = predict::expanded_ledger(config, *plan, profile, stage.stage);
    RC_LOG() << to_string(*plan) << "\nstage " << stage.stage << " compact peak at "
             << stage.ledger.peak_step << "\n";
    RC_ASSERT(stage.ledger.live_peak_bytes.count() == expanded.live_peak_bytes.count());
    Bytes by_category;
    for (const Bytes bytes : stage.ledger.at_peak_by_category()) by_category += bytes;
    RC_ASSERT(by_category.count() == stage.ledger.live_peak_bytes.count());
  }
}

TEST(ExpandedLedger, books_the_scalars_that_ranks_sum) {
  const model::ModelConfig config = test::small_model("llama");
  plan::Plan plan;
  plan.seq = 16;
  plan.grad_accum = 2;
  plan.layers_per_stage = {6};
  const ledger::Ledger ledger =
      predict::expanded_ledger(config, plan, plan::load_profile("fourhold"), 0);
  const auto entry = [&](std::string_view key) {
    return *std::find_if(ledger.entries.begin(), ledger.entries.end(),
                         [key](const ledger::Entry& e) { return to_string(e.key) == key; });
  };
  std::int64_t last = 0;
  for (const ledger::Entry& e : ledger.entries) last = std::max(last, e.last_step);
  // Behind the loss: for 8 blocks each sum_replicas, sum_tied and reduce_all, then norm, clip, and
  // 8 updates.
  const std::int64_t loss = last - (3 * 8 + 2 + 8);
  for (const char* name : {"step.token_count", "step.loss_sum"}) {
    EXPECT_EQ(entry(name).first_step, 0) << name;
    EXPECT_EQ(entry(name).last_step, loss) << name;
    EXPECT_EQ(entry(name).bytes, Bytes(8)) << name;
    EXPECT_EQ(entry(name).category, ledger::Category::communication) << name;
  }
  EXPECT_EQ(entry("step.gradient_norm").first_step, loss + 3 * 8 + 1);
  EXPECT_EQ(entry("step.gradient_norm").last_step, loss + 3 * 8 + 2);
}

RC_GTEST_PROP(ExpandedLedger, names_every_tensor_once, ()) {
  const model::ModelConfig config = test::small_model(
      test::pick<std::string>({"llama", "gpt2", "mixtral", "gemma2", "deepseek_v2"}));
  const plan::Profile profile = random_profile();
  const std::optional<plan::Plan> plan = test::random_plan(config, profile);
  RC_PRE(plan.has_value());
  const ledger::Ledger expanded = predict::expanded_ledger(config, *plan, profile, plan->pp - 1);
  // A name may come back for another lifetime, as what backward makes anew, but never for two
  // tensors that are alive together.
  std::map<std::string, std::vector<const ledger::Entry*>> by_key;
  for (const ledger::Entry& entry : expanded.entries) {
    for (const ledger::Entry* other : by_key[to_string(entry.key)]) {
      const bool together =
          entry.first_step <= other->last_step && other->first_step <= entry.last_step;
      RC_LOG() << to_string(entry.key) << "\n";
      RC_ASSERT(!together);
    }
    by_key[to_string(entry.key)].push_back(&entry);
  }
}

}  // namespace
}  // namespace fourhold

#include "fourhold/predict/sample_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fourhold/ledger/timeline.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold {
namespace {

// small_model("llama"): 13,008 parameters (state_ledger_test.cpp), six layers, width 16, four heads
// and two kv heads of 4, feed-forward width 24, vocabulary 40. Without the engine's scratch.
ledger::Ledger ledger_of(std::int64_t prompt_tokens, plan::Precision precision) {
  const model::ModelConfig config = test::small_model("llama");
  plan::Plan plan;
  plan.precision = precision;
  plan.seq = 10;
  plan.layers_per_stage = {config.layer_count()};
  plan::Profile profile = plan::load_profile("fourhold");
  profile.kernel_scratch = plan::KernelScratch::none;
  return predict::sample_ledger(config, plan, profile, {prompt_tokens});
}

Bytes of(const ledger::CategoryBytes& bytes, ledger::Category category) {
  return bytes[static_cast<std::size_t>(category)];
}

constexpr std::int64_t kParameters = 13'008;
constexpr std::int64_t kCached = 6 * 2 * 10 * 2 * 4;  // numbers: keys and values of ten tokens

// Where a token is chosen, 40 logits of two bytes and 40 candidates of eight stand beside weights
// and caches. No layer holds more for one token: 2 x (16 + 24 + 24 + 24).
TEST(SampleLedger, OfOneTokenIsWeightsCachesAndTheChoice) {
  const ledger::Ledger ledger = ledger_of(0, plan::Precision::bf16);
  const ledger::CategoryBytes bytes = ledger.at_peak_by_category();
  EXPECT_EQ(of(bytes, ledger::Category::weight), Bytes(2 * kParameters));
  EXPECT_EQ(of(bytes, ledger::Category::kv_cache), Bytes(2 * kCached));
  EXPECT_EQ(of(bytes, ledger::Category::scratch), Bytes(40 * 2 + 40 * 8));
  EXPECT_EQ(ledger.live_peak_bytes, Bytes(2 * kParameters + 2 * kCached + 400));
}

// Three tokens of a prompt: where gate and up become their product, the stream stands beside them.
TEST(SampleLedger, APassOverThePromptHoldsItsActivations) {
  const ledger::Ledger ledger = ledger_of(3, plan::Precision::bf16);
  EXPECT_EQ(ledger.live_peak_bytes,
            Bytes(2 * kParameters + 2 * kCached + 3 * 2 * (16 + 24 + 24 + 24)));
}

TEST(SampleLedger, InFp32EverythingButTheChoiceTakesTwiceAsMuch) {
  const ledger::Ledger ledger = ledger_of(0, plan::Precision::fp32);
  EXPECT_EQ(ledger.live_peak_bytes, Bytes(4 * kParameters + 4 * kCached + 40 * 4 + 40 * 8));
}

TEST(SampleLedger, HoldsNothingThatTrainingAloneNeeds) {
  for (const std::int64_t prompt_tokens : {0, 3}) {
    for (const ledger::Entry& entry : ledger_of(prompt_tokens, plan::Precision::bf16).entries) {
      EXPECT_NE(entry.category, ledger::Category::gradient);
      EXPECT_NE(entry.category, ledger::Category::master_weight);
      EXPECT_NE(entry.category, ledger::Category::optimizer_state);
      EXPECT_NE(entry.category, ledger::Category::saved_activation);
      EXPECT_NE(entry.category, ledger::Category::activation_gradient);
      EXPECT_NE(entry.key.name, "targets");
      EXPECT_NE(entry.key.name, "loss");
    }
  }
}

TEST(SampleLedger, WeightsAndCachesLiveInEveryStep) {
  const ledger::Ledger ledger = ledger_of(3, plan::Precision::bf16);
  std::int64_t last = 0;
  for (const ledger::Entry& entry : ledger.entries) last = std::max(last, entry.last_step);
  std::int64_t caches = 0;
  for (const ledger::Entry& entry : ledger.entries) {
    const bool lasts =
        entry.category == ledger::Category::weight || entry.category == ledger::Category::kv_cache;
    if (!lasts) continue;
    EXPECT_EQ(entry.first_step, 0);
    EXPECT_EQ(entry.last_step, last);
    EXPECT_EQ(entry.key.micro_batch, ledger::Key::kNone);
    caches += entry.category == ledger::Category::kv_cache ? 1 : 0;
  }
  EXPECT_EQ(caches, 2 * 6);
}

}  // namespace
}  // namespace fourhold

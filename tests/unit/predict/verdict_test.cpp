#include "fourhold/predict/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fourhold/model/load_model.h"
#include "fourhold/predict/fit.h"

namespace fourhold {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

plan::Plan one_device(const model::ModelConfig& config, std::int64_t micro_batch,
                      std::int64_t seq) {
  plan::Plan plan;
  plan.micro_batch = micro_batch;
  plan.global_batch = micro_batch;
  plan.seq = seq;
  plan.layers_per_stage = {config.layer_count()};
  return plan;
}

predict::Verdict judge(const model::ModelConfig& config, const plan::Plan& plan,
                       const predict::Capacity& capacity) {
  const plan::Profile profile = plan::load_profile("standard");
  return predict::decide(config, plan, profile, predict::predict_memory(config, plan, profile),
                         capacity);
}

predict::Capacity gib(double size) {
  return {.usable_bytes = Bytes(static_cast<std::int64_t>(size * kGib)), .devices_per_node = 8};
}

const predict::Answer* find(const predict::Verdict& verdict, const std::string& text) {
  for (const predict::Answer& answer : verdict.answers) {
    if (answer.change.find(text) != std::string::npos) return &answer;
  }
  return nullptr;
}

TEST(Verdict, calls_7B_on_24_GiB_a_state_failure_at_any_batch) {
  // 16 x 6,738,415,616 = 100.4 GiB.
  const model::ModelConfig config = model::load_model("llama-2-7b");
  for (const std::int64_t micro_batch : {1, 4}) {
    EXPECT_EQ(judge(config, one_device(config, micro_batch, 512), gib(23.7)).verdict,
              predict::VerdictClass::state_does_not_fit);
  }
}

TEST(Verdict, says_that_more_replicas_do_not_help_a_state_failure) {
  const model::ModelConfig config = model::load_model("llama-2-7b");
  plan::Plan plan = one_device(config, 1, 512);
  plan.dp = 4;
  plan.global_batch = 4;
  const predict::Verdict verdict = judge(config, plan, gib(23.7));
  EXPECT_EQ(verdict.verdict, predict::VerdictClass::state_does_not_fit);
  EXPECT_NE(verdict.explanation.find("more replicas do not help"), std::string::npos);
}

TEST(Verdict, offers_a_smaller_micro_batch_first_for_an_activation_failure) {
  // 1.24B x 16 = 18.4 GiB of state fits; micro-batch 4 at 2048 tokens does not fit beside it.
  const model::ModelConfig config = model::load_model("llama-3.2-1b");
  const predict::Verdict verdict = judge(config, one_device(config, 4, 2048), gib(24));
  ASSERT_EQ(verdict.verdict, predict::VerdictClass::activations_do_not_fit);
  ASSERT_FALSE(verdict.answers.empty());
  EXPECT_NE(verdict.answers[0].change.find("micro-batch"), std::string::npos);
  // The global batch stays what it was.
  const plan::Plan& changed = verdict.answers[0].plan;
  EXPECT_EQ(changed.micro_batch * changed.grad_accum * changed.dp, 4);
}

TEST(Verdict, does_not_advise_what_is_done_already) {
  // A single sequence of 32,768 tokens: 16 layers x 2048 wide do not fit beside 18.4 GiB of state,
  // nor do the fp32 logits of 128,256 x 32,768 x 4 bytes = 15.7 GiB.
  const model::ModelConfig config = model::load_model("llama-3.2-1b");
  plan::Plan plan = one_device(config, 1, 32768);
  const predict::Verdict one = judge(config, plan, gib(24));
  ASSERT_EQ(one.verdict, predict::VerdictClass::activations_do_not_fit);
  EXPECT_EQ(one.explanation.find("smaller micro-batch"), std::string::npos) << one.explanation;
  EXPECT_NE(one.explanation.find("recompute first"), std::string::npos) << one.explanation;
  plan.recompute = plan::recompute_from_string("full");
  const predict::Verdict all = judge(config, plan, gib(24));
  ASSERT_EQ(all.verdict, predict::VerdictClass::activations_do_not_fit);
  EXPECT_EQ(all.explanation.find("recompute first"), std::string::npos) << all.explanation;
  EXPECT_NE(all.explanation.find("split each replica"), std::string::npos) << all.explanation;
}

TEST(Verdict, predicts_again_what_each_answer_leads_to) {
  const model::ModelConfig config = model::load_model("llama-3.2-1b");
  const plan::Profile profile = plan::load_profile("standard");
  const predict::Capacity capacity = gib(24);
  const plan::Plan plan = one_device(config, 4, 2048);
  const predict::MemoryPrediction before = predict::predict_memory(config, plan, profile);
  const predict::Verdict verdict = predict::decide(config, plan, profile, before, capacity);
  for (const predict::Answer& answer : verdict.answers) {
    const predict::MemoryPrediction after = predict::predict_memory(config, answer.plan, profile);
    EXPECT_EQ((before.device_bytes - after.device_bytes).count(), answer.saves_bytes.count());
    EXPECT_EQ(predict::classify(after, capacity), answer.then_class);
    EXPECT_GT(answer.saves_bytes, Bytes(0)) << answer.change;
  }
}

TEST(Verdict, splits_the_state_over_as_few_devices_as_cure_it) {
  const model::ModelConfig config = model::load_model("llama-2-7b");
  const predict::Verdict verdict = judge(config, one_device(config, 1, 512), gib(40));
  const predict::Answer* sharded = find(verdict, "ZeRO-3");
  ASSERT_NE(sharded, nullptr);
  EXPECT_EQ(sharded->then_class, predict::VerdictClass::fits);
  // 100.4 GiB over 2 devices is 50.2 GiB; over 3 it is 33.5 GiB and leaves room.
  EXPECT_EQ(sharded->plan.dp, 3);
}

TEST(Verdict, names_the_second_change_that_does_the_rest) {
  // 119.7 GiB over 8 devices are 15 GiB; 32 layers of 8192 tokens do not fit beside them in 24 GiB
  // unless only their inputs are kept, 32 x 8192 x 4096 x 2 bytes = 2 GiB.
  const model::ModelConfig config = model::load_model("llama-3.1-8b");
  const plan::Profile profile = plan::load_profile("standard");
  const predict::Verdict verdict = judge(config, one_device(config, 1, 8192), gib(24));
  const predict::Answer* sharded = find(verdict, "ZeRO-3");
  ASSERT_NE(sharded, nullptr);
  EXPECT_EQ(sharded->then_class, predict::VerdictClass::activations_do_not_fit);
  ASSERT_TRUE(sharded->then_change);
  const plan::Plan& both = sharded->then_change->plan;
  EXPECT_EQ(both.devices(), sharded->plan.devices());
  EXPECT_EQ(predict::classify(predict::predict_memory(config, both, profile), gib(24)),
            predict::VerdictClass::fits);
}

// A caching allocator holds more than the run needs: what is printed first is what is held.
TEST(Verdict, names_what_lies_between_the_bytes_held_and_needed) {
  predict::MemoryPrediction memory;
  memory.stages.resize(1);
  memory.device_bytes = memory.reserved_bytes = Bytes(40 * kGib);
  memory.needed_bytes = Bytes(30 * kGib);
  const model::ModelConfig config = model::load_model("gpt2");
  const plan::Profile profile = plan::load_profile("nanotron");
  const predict::Verdict held =
      predict::decide(config, one_device(config, 1, 512), profile, memory, gib(79));
  EXPECT_EQ(held.explanation,
            "40.00 GiB of 79.00 GiB; it runs with 30.00 GiB: the other 10.00 GiB are blocks that "
            "the allocator keeps, and gives back where the device is full");
  memory.needed_bytes = Bytes(41 * kGib);
  const predict::Verdict more =
      predict::decide(config, one_device(config, 1, 512), profile, memory, gib(79));
  EXPECT_EQ(more.explanation.find("40.00 GiB of 79.00 GiB; judged with 1.00 GiB more"), 0U);
}

TEST(Shortfall, is_compared_by_the_share_of_each_memory) {
  predict::MemoryPrediction memory;
  memory.needed_bytes = Bytes(110);
  memory.host_bytes = Bytes(25);
  memory.host_staging_bytes = Bytes(5);
  predict::Capacity capacity;
  capacity.usable_bytes = Bytes(100);
  capacity.host_bytes = Bytes(20);
  const predict::Shortfall both = predict::shortfall_of(memory, capacity);
  EXPECT_EQ(both.device, Bytes(10));  // a tenth of the device
  EXPECT_EQ(both.host, Bytes(10));    // half of the host
  EXPECT_DOUBLE_EQ(predict::share_of(both, capacity), 0.5);
  capacity.headroom = 0.5;  // 60 of 50
  EXPECT_DOUBLE_EQ(predict::share_of(predict::shortfall_of(memory, capacity), capacity), 1.2);
  capacity.host_bytes.reset();
  EXPECT_EQ(predict::shortfall_of(memory, capacity).host, Bytes(0));  // not checked
  capacity.usable_bytes = Bytes(220);
  EXPECT_TRUE(predict::shortfall_of(memory, capacity).none());
}

TEST(Verdict, counts_host_memory_where_state_is_offloaded) {
  const model::ModelConfig config = model::load_model("llama-2-7b");
  plan::Plan plan = one_device(config, 1, 512);
  plan.offload = plan::Offload::optimizer;
  predict::Capacity capacity = gib(79);
  capacity.host_bytes = Bytes(64 * kGib);  // 12 x 6.74e9 = 75.3 GiB of master and moments
  const predict::Verdict verdict = judge(config, plan, capacity);
  EXPECT_EQ(verdict.verdict, predict::VerdictClass::state_does_not_fit);
  EXPECT_EQ(verdict.reason, "host_memory");
}

TEST(Verdict, tells_too_little_headroom_from_not_fitting) {
  const model::ModelConfig config = model::load_model("gpt2");
  const plan::Profile profile = plan::load_profile("standard");
  const plan::Plan plan = one_device(config, 1, 512);
  const predict::MemoryPrediction memory = predict::predict_memory(config, plan, profile);
  predict::Capacity capacity{.usable_bytes = memory.device_bytes + Bytes(1)};
  EXPECT_EQ(predict::decide(config, plan, profile, memory, capacity).verdict,
            predict::VerdictClass::fits);
  capacity.headroom = 0.1;
  const predict::Verdict verdict = predict::decide(config, plan, profile, memory, capacity);
  EXPECT_NE(verdict.verdict, predict::VerdictClass::fits);
  EXPECT_EQ(verdict.reason, "headroom");
}

TEST(Largest, is_the_last_batch_and_sequence_that_fit) {
  const model::ModelConfig config = model::load_model("llama-3.2-1b");
  const plan::Profile profile = plan::load_profile("standard");
  const predict::Capacity capacity = gib(40);
  const plan::Plan plan = one_device(config, 1, 2048);
  const auto fits = [&](const char* recompute, std::int64_t micro_batch, std::int64_t seq) {
    plan::Plan tried = plan;
    tried.recompute = plan::recompute_from_string(recompute);
    tried.micro_batch = micro_batch;
    tried.seq = seq;
    return predict::classify(predict::predict_memory(config, tried, profile), capacity) ==
           predict::VerdictClass::fits;
  };
  for (const predict::Largest& row : predict::largest_that_fit(config, plan, profile, capacity)) {
    const char* kind = row.recompute.c_str();
    ASSERT_GE(row.micro_batch, 1) << kind;
    EXPECT_TRUE(fits(kind, row.micro_batch, 2048)) << kind;
    EXPECT_FALSE(fits(kind, row.micro_batch + 1, 2048)) << kind;
    EXPECT_TRUE(fits(kind, 1, row.seq)) << kind;
    EXPECT_FALSE(fits(kind, 1, row.seq + 1)) << kind;
  }
}

TEST(Activations, count_every_tensor_as_wide_as_the_vocabulary_at_the_loss) {
  // Qwen3-30B-A3B's vocabulary of 151,936 at 32,768 tokens: an fp32 copy is 18.55 GiB; the kept
  // log-softmax and its gradient are two of them.
  const model::ModelConfig config = model::load_model("qwen3-30b-a3b");
  const plan::Profile profile = plan::load_profile("standard");
  plan::Plan plan = one_device(config, 1, 32768);
  plan.recompute = plan::recompute_from_string("full");
  const predict::ActivationBytes activations =
      predict::activation_bytes(predict::predict_memory(config, plan, profile));
  EXPECT_NEAR(activations.logits.gib(), 2 * 18.547, 0.01);
}

TEST(Largest, IsALegalSequenceOfASplitPlan) {
  const model::ModelConfig config = model::load_model("llama-3.2-1b");
  const plan::Profile profile = plan::load_profile("standard");
  plan::Plan plan = one_device(config, 1, 2048);
  plan.cp = 4;
  plan.tp = 2;
  plan.sp = true;
  const predict::Capacity capacity = gib(20);
  for (const predict::Largest& row : predict::largest_that_fit(config, plan, profile, capacity)) {
    plan.recompute = plan::recompute_from_string(row.recompute);
    ASSERT_GT(row.seq, 0);
    EXPECT_EQ(row.seq % 8, 0);  // 2 cp pieces; tp divides each rank's tokens too
    plan.seq = row.seq;
    EXPECT_EQ(predict::classify(predict::predict_memory(config, plan, profile), capacity),
              predict::VerdictClass::fits);
    plan.seq += 8;
    EXPECT_NE(predict::classify(predict::predict_memory(config, plan, profile), capacity),
              predict::VerdictClass::fits);
  }
}

}  // namespace
}  // namespace fourhold

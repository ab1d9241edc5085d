// Replays of a caching allocator: each rule on a run of a few blocks, worked out by hand; bounds on
// random plans; and published reserved memory of nanotron's runs.
#include "fourhold/predict/allocator_replay.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/ledger/timeline.h"
#include "fourhold/predict/memory.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold::predict {
namespace {

using ledger::Category;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

ledger::Entry block(std::int64_t mebibytes, std::int64_t first, std::int64_t last,
                    Category category = Category::saved_activation) {
  ledger::Entry entry;
  entry.bytes = Bytes(mebibytes * kMiB);
  entry.first_step = first;
  entry.last_step = last;
  entry.category = category;
  return entry;
}

std::array<std::int64_t, kReplayedSteps> mebibytes(const AllocatorReplay& replay) {
  std::array<std::int64_t, kReplayedSteps> out = replay.reserved_peak_bytes;
  for (std::int64_t& bytes : out) bytes /= kMiB;
  return out;
}

// Activations of 16 MiB at steps 1 and 2, moments of 12 MiB from the update at step 3 on.
TEST(AllocatorReplay, MomentsOfTheFirstUpdateTakeTheBlocksOfActivations) {
  ExpandedRun run;
  run.ledger.entries = {block(16, 1, 2), block(12, 0, 4, Category::optimizer_state)};
  run.optimizer_step = 3;
  ReplayRules rules;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)), (std::array<std::int64_t, 3>{28, 28, 28}));
  // The moments go into the 16 MiB, and the 4 MiB beside them are of no use to the activations.
  rules.optimizer_state = plan::StateCreation::first_update;
  const AllocatorReplay late = replay_allocator(run, rules);
  EXPECT_EQ(mebibytes(late), (std::array<std::int64_t, 3>{16, 32, 32}));
  EXPECT_EQ(late.allocated_peak_bytes, 28 * kMiB);
  EXPECT_FALSE(late.flushed);
}

// The input of a collective at step 1, and a block as large at step 2.
TEST(AllocatorReplay, DeferredInputsOfCollectivesWaitForTheHost) {
  ExpandedRun run;
  run.ledger.entries = {block(16, 1, 1), block(16, 2, 2), block(16, 4, 4), block(1, 5, 5)};
  run.collective_tensors = {0};
  run.waits = {3};
  run.host.assign(6, {1, true});
  ReplayRules rules;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 2);
  rules.deferred_collectives = plan::DeferredCollectives::yes;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 32 + 2);
  // No stream holds more than 1024 launches: the work of step 1 is done when step 2 adds as many.
  run.host[2].launches = 1024;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 2);
  run.host[2].launches = 1023;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 32 + 2);
  // Nor does anything wait where the host is not ahead.
  run.host[1].ahead = false;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 2);
  run.host[1].ahead = true;
  // A host that waits before step 2 finds the block free again.
  run.waits = {1};
  run.ledger.entries[0] = block(16, 0, 0);
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 2);
}

// The gathered input of a product at step 1 is not asked for where a buffer of its own holds it.
TEST(AllocatorReplay, LeavesOutWhatGatherBuffersHold) {
  ExpandedRun run;
  run.ledger.entries = {block(16, 1, 1), block(32, 1, 2), block(1, 3, 3)};
  run.gathered = {1};
  ReplayRules rules;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 48 + 2);
  rules.gather_buffers = plan::GatherBuffers::two_for_all;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 2);
}

// A workspace of 12 MiB, and activations of 16 MiB at steps 1 and 3. Made before them it has a
// place of its own; made at step 2 it goes into the first one's, and the second needs another.
TEST(AllocatorReplay, MakesWorkspacesWhenTheyAreFirstNeeded) {
  ExpandedRun run;
  run.ledger.entries = {block(16, 1, 1), block(12, 0, 4), block(16, 3, 3)};
  EXPECT_EQ(mebibytes(replay_allocator(run, {})), (std::array<std::int64_t, 3>{28, 28, 28}));
  run.workspaces = {{1, 2}};
  EXPECT_EQ(mebibytes(replay_allocator(run, {})), (std::array<std::int64_t, 3>{32, 32, 32}));
}

// Two gradients of 16 MiB, both there until step 3, beside activations that shrink as they grow.
TEST(AllocatorReplay, FreshGradientsLiveToTheEndOfTheirBackward) {
  ExpandedRun run;
  run.ledger.entries = {block(16, 1, 1), block(16, 1, 2), block(12, 3, 4)};
  run.fresh_gradients = {{16 * kMiB, 2, 4}, {16 * kMiB, 3, 4}};
  ReplayRules rules;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 32);
  // At step 3 the 12 MiB come first and leave 4 of the second block: the second gradient finds
  // none.
  rules.fresh_gradients = plan::FreshGradients::until_backward_ends;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 32 + 16);
}

// 64 MiB of weights over four ranks: the rank's own part, four parts, and all of it in one block.
TEST(AllocatorReplay, FlatCopiesOfUpdatedWeightsAreTwoOfAllAndOneOfAPart) {
  ExpandedRun run;
  run.ledger.entries = {block(64, 0, 5, Category::weight)};
  run.gathered_updates = {64 * kMiB, 4, 5};
  ReplayRules rules;
  rules.shards = 4;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 64);
  rules.updated_weights = plan::UpdatedWeights::flat_copies;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 64 + 16 + 4 * 16 + 64);
  rules.shards = 1;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 64);
}

// Copies of 16 MiB of weights at steps 2 and 3 out of a message of 32 MiB, a message of 16 MiB for
// gradients at step 4, of which 12 MiB stay, and an activation of 16 MiB at step 5. With streams of
// their own: 16 to compute, 32 to gather, 12 to reduce. On one stream the program's own tensors
// alone: the weights' 16 MiB hold the gradients' 12, and the activation needs 16 more.
TEST(AllocatorReplay, KeepsMessagesOfShardsOnStreamsOfTheirOwn) {
  ExpandedRun run;
  run.ledger.entries = {block(16, 1, 3), block(12, 4, 6), block(16, 5, 5), block(2, 7, 7)};
  run.messages.weights = {{0, 2, 3}};
  run.messages.gathers = {{32 * kMiB, 1, 2}};
  run.messages.reductions = {{16 * kMiB, 4, 4}};
  run.messages.gradients = {1};
  ReplayRules rules;
  rules.shards = 2;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 16);
  rules.shard_streams = plan::ShardStreams::own;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 32 + 12);
  rules.shards = 1;
  EXPECT_EQ(mebibytes(replay_allocator(run, rules)).back(), 16 + 16);
}

// 40 MiB and then 50, which no cached block holds.
TEST(AllocatorReplay, AFullDeviceIsFlushedAndThenOutOfMemory) {
  ExpandedRun run;
  run.ledger.entries = {block(40, 1, 1), block(50, 2, 2), block(1, 3, 3)};
  EXPECT_EQ(mebibytes(replay_allocator(run, {})).back(), 92);
  const AllocatorReplay flushed = replay_allocator(run, {}, 60 * kMiB);
  EXPECT_TRUE(flushed.flushed);
  EXPECT_FALSE(flushed.out_of_memory);
  EXPECT_EQ(mebibytes(flushed).back(), 52);
  const AllocatorReplay lacking = replay_allocator(run, {}, 45 * kMiB);
  EXPECT_TRUE(lacking.out_of_memory);
}

TEST(AllocatorReplay, LeavesOutWhatTheHostHolds) {
  ExpandedRun run;
  run.ledger.entries = {block(16, 1, 2), block(64, 0, 3, Category::master_weight)};
  run.ledger.entries[1].place = ledger::Place::host;
  EXPECT_EQ(mebibytes(replay_allocator(run, {})).back(), 16);
}

// Large enough for the pool of large blocks.
model::ModelConfig middle_model() {
  return model::read_hf_config(
      R"({"model_type":"llama","hidden_size":1024,"intermediate_size":2816,)"
      R"("num_attention_heads":8,"num_key_value_heads":4,"num_hidden_layers":6,)"
      R"("vocab_size":16000,"max_position_embeddings":4096})",
      "middle");
}

RC_GTEST_PROP(AllocatorReplay, lies_between_what_is_allocated_and_all_requests, ()) {
  const model::ModelConfig config = middle_model();
  const plan::Profile profile =
      plan::load_profile(test::pick<std::string>({"megatron", "fsdp2", "nanotron", "deepspeed"}));
  std::optional<plan::Plan> plan = test::random_plan(config, profile);
  RC_PRE(plan.has_value());
  const ExpandedRun run = expanded_run(config, *plan, profile, 0);
  const AllocatorReplay replay = replay_allocator(run, {});
  RC_ASSERT(!replay.flushed && !replay.out_of_memory);
  RC_ASSERT(replay.allocated_peak_bytes >=
            ledger::timeline_of(run.ledger.entries).peak_bytes.count());
  RC_ASSERT(replay.reserved_peak_bytes.front() >= replay.allocated_peak_bytes);
  RC_ASSERT(std::is_sorted(replay.reserved_peak_bytes.begin(), replay.reserved_peak_bytes.end()));
  // With exactly that much memory it runs as before.
  const AllocatorReplay within = replay_allocator(run, {}, replay.reserved_peak_bytes.back());
  RC_ASSERT(!within.flushed && !within.out_of_memory);
}

RC_GTEST_PROP(AllocatorReplay, decides_reserved_bytes_and_not_needed_bytes, ()) {
  const model::ModelConfig config = middle_model();
  const plan::Profile profile = plan::load_profile("nanotron");
  const std::optional<plan::Plan> plan = test::random_plan(config, profile);
  RC_PRE(plan.has_value());
  MemoryPrediction memory = predict_memory(config, *plan, profile);
  const MemoryPrediction searched = predict_memory(config, *plan, profile, WithLedger::no);
  RC_ASSERT(memory.needed_bytes == memory.allocated_bytes);
  RC_ASSERT(searched.needed_bytes == memory.needed_bytes);
  RC_ASSERT(memory.reserved_bytes >= memory.allocated_bytes);
  RC_ASSERT(memory.device_bytes == memory.reserved_bytes);
  RC_ASSERT(memory.allocator->deferred_bytes == memory.reserved_bytes.count());
  const Bytes before = memory.reserved_bytes;
  limit_reserved(config, *plan, profile, before, memory);
  RC_ASSERT(memory.reserved_bytes == before);
  limit_reserved(config, *plan, profile, memory.needed_bytes, memory);
  RC_ASSERT(memory.reserved_bytes <= std::max(before, memory.needed_bytes));
  RC_ASSERT(memory.reserved_bytes >= memory.allocated_bytes);
  RC_ASSERT(memory.device_bytes == memory.reserved_bytes);
}

// Ultra-Scale Playbook, runs of data/measured: 1.34B on one stage without tensor parallelism, 4096
// tokens to a sequence, 256 sequences to a step; reserved memory to one decimal.
struct WholeModelRun {
  const char* id;
  int zero;
  std::int64_t dp, micro_batch;
  double published_gib;
};

TEST(AllocatorReplay, GivesTheReservedMemoryThatNanotronPublished) {
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type":"llama","hidden_size":2048,"intermediate_size":8192,)"
      R"("num_attention_heads":32,"num_key_value_heads":32,"num_hidden_layers":16,)"
      R"("vocab_size":131072,"max_position_embeddings":4096,"tie_word_embeddings":true})",
      "1.34B");
  const plan::Profile profile = plan::load_profile("nanotron");
  for (const WholeModelRun& run : {WholeModelRun{"nanotron-0003", 1, 8, 1, 24.2},
                                   WholeModelRun{"nanotron-0033", 1, 16, 1, 24.0},
                                   WholeModelRun{"nanotron-0092", 1, 32, 1, 23.8},
                                   WholeModelRun{"nanotron-0158", 1, 64, 1, 23.8},
                                   WholeModelRun{"nanotron-0359", 1, 256, 1, 21.7},
                                   WholeModelRun{"nanotron-0032", 1, 16, 2, 35.0},
                                   WholeModelRun{"nanotron-0091", 1, 32, 2, 34.9},
                                   WholeModelRun{"nanotron-0160", 1, 64, 2, 34.8},
                                   WholeModelRun{"nanotron-0002", 0, 8, 1, 36.7},
                                   WholeModelRun{"nanotron-0352", 0, 256, 1, 36.6},
                                   WholeModelRun{"nanotron-0001", 0, 8, 2, 50.2},
                                   WholeModelRun{"nanotron-0193", 0, 64, 2, 50.2}}) {
    plan::Plan plan;
    plan.profile = "nanotron";
    plan.dp = run.dp;
    plan.zero = run.zero;
    plan.seq = 4096;
    plan.micro_batch = run.micro_batch;
    plan.grad_accum = 256 / (run.dp * run.micro_batch);
    plan.global_batch = 256;
    plan.layers_per_stage = {16};
    const AllocatorPrediction replay = replay_stage(config, plan, profile, 0);
    EXPECT_NEAR(Bytes(replay.reserved_peak_bytes.back()).gib(), run.published_gib, 0.15) << run.id;
  }
}

// The same source: runs with tensor parallelism, whose collectives keep what they read and write
// from a host that is ahead (predict/host_lead.h). On one stage by as many launches as a stream
// holds, on the first stage of a pipeline of eight in six of its eight first forwards.
struct PublishedRun {
  const char* id;
  std::int64_t tp, pp, dp, micro_batch, grad_accum;
  double published_gib;
};

TEST(AllocatorReplay, GivesTheReservedMemoryOfTensorParallelRuns) {
  const model::ModelConfig small = model::read_hf_config(
      R"({"model_type":"llama","hidden_size":2048,"intermediate_size":8192,)"
      R"("num_attention_heads":32,"num_key_value_heads":32,"num_hidden_layers":16,)"
      R"("vocab_size":131072,"max_position_embeddings":4096,"tie_word_embeddings":true})",
      "1.34B");
  const model::ModelConfig large = model::read_hf_config(
      R"({"model_type":"llama","hidden_size":4096,"intermediate_size":14336,)"
      R"("num_attention_heads":32,"num_key_value_heads":32,"num_hidden_layers":32,)"
      R"("vocab_size":131072,"max_position_embeddings":4096})",
      "8.86B");
  const plan::Profile profile = plan::load_profile("nanotron");
  const auto reserved_gib = [&](const model::ModelConfig& config, const PublishedRun& run,
                                const std::vector<std::int64_t>& layers) {
    plan::Plan plan;
    plan.profile = "nanotron";
    plan.tp = run.tp;
    plan.sp = true;
    plan.pp = run.pp;
    plan.dp = run.dp;
    plan.seq = 4096;
    plan.micro_batch = run.micro_batch;
    plan.grad_accum = run.grad_accum;
    plan.global_batch = run.micro_batch * run.grad_accum * run.dp;
    plan.layers_per_stage = layers;
    return Bytes(replay_stage(config, plan, profile, 0).reserved_peak_bytes.back()).gib();
  };
  // DDP's second copy: 2 bytes for each of 8.86e9 / 8 parameters, 2.06 GiB, from one rank to two.
  const double alone = reserved_gib(large, {"nanotron-0917", 8, 1, 1, 1, 256, 24.4}, {32});
  const double shared = reserved_gib(large, {"nanotron-0944", 8, 1, 2, 1, 128, 26.4}, {32});
  EXPECT_NEAR(alone, 24.4, 0.6);
  EXPECT_NEAR(shared, 26.4, 0.6);
  EXPECT_NEAR(shared - alone, 2.06, 0.1);
  // Layers by cost: 3 on the first of eight stages.
  const std::vector<std::int64_t> by_cost{3, 2, 2, 2, 3, 2, 1, 1};
  for (const PublishedRun& run : {PublishedRun{"nanotron-0311", 16, 8, 1, 32, 8, 42.8},
                                  PublishedRun{"nanotron-0323", 16, 8, 1, 16, 16, 21.6},
                                  PublishedRun{"nanotron-0337", 16, 8, 1, 8, 32, 11.2}}) {
    EXPECT_NEAR(reserved_gib(small, run, by_cost), run.published_gib, 0.04 * run.published_gib)
        << run.id;
  }
  EXPECT_NEAR(reserved_gib(small, {"nanotron-0373", 16, 1, 16, 8, 2, 13.9}, {16}), 13.9, 0.4);
}

// pytorch/torchtitan, message of commit 7a04053 (January 2025): Llama 3 8B on 8 H100, one sequence
// of 8192 tokens each, compiled blocks, selective recomputation per operation, eager loss.
TEST(AllocatorReplay, GivesTheReservedMemoryThatTorchtitanPublished) {
  const model::ModelConfig config = model::read_hf_config(
      R"({"model_type":"llama","hidden_size":4096,"intermediate_size":14336,)"
      R"("num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":32,)"
      R"("vocab_size":128256,"max_position_embeddings":8192,"tie_word_embeddings":false})",
      "llama-3-8b");
  plan::Profile profile = plan::load_profile("fsdp2");
  profile.whole_weights = plan::WholeWeights::ends;
  plan::Plan plan;
  plan.profile = "fsdp2";
  plan.dp = 8;
  plan.zero = 3;
  plan.seq = 8192;
  plan.micro_batch = 1;
  plan.grad_accum = 1;
  plan.global_batch = 8;
  plan.layers_per_stage = {32};
  plan.recompute = plan::recompute_from_string("selective:norm,activation,alternate");
  const AllocatorPrediction replay = replay_stage(config, plan, profile, 0);
  EXPECT_NEAR(Bytes(replay.reserved_peak_bytes.back()).gib(), 47.65, 0.02 * 47.65);
}

}  // namespace
}  // namespace fourhold::predict

// What a profile reserves: the share its allocator adds, or one arena placed ahead of the run.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fourhold/ledger/placement.h"
#include "fourhold/predict/expanded_ledger.h"
#include "fourhold/predict/memory.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold {
namespace {

std::optional<plan::Plan> random_engine_plan(const model::ModelConfig& config) {
  return test::random_plan(config, plan::load_profile("fourhold"));
}

RC_GTEST_PROP(ReservedBytes, of_the_engine_are_the_placement_of_its_worst_stage, ()) {
  const model::ModelConfig config = test::small_model(test::pick<std::string>({"llama", "gpt2"}));
  const plan::Profile profile = plan::load_profile("fourhold");
  const std::optional<plan::Plan> plan = random_engine_plan(config);
  RC_PRE(plan.has_value());
  const predict::MemoryPrediction memory = predict::predict_memory(config, *plan, profile);
  const ledger::Ledger expanded =
      predict::expanded_ledger(config, predict::arena_plan(*plan), profile, memory.peak_stage);
  RC_ASSERT(memory.reserved_bytes == ledger::place(expanded.entries).reserved_bytes);
  RC_ASSERT(memory.reserved_bytes >= memory.allocated_bytes);
  RC_ASSERT(memory.device_bytes == memory.reserved_bytes);
  // A search sees the live peak, and asks again before it keeps a plan.
  RC_ASSERT(
      predict::predict_memory(config, *plan, profile, predict::WithLedger::no).reserved_bytes ==
      memory.allocated_bytes);
}

// On one stage three micro-batches stand for any number; in a pipeline each has its own place, and
// the compact ledger alone is content with those after which the schedule repeats itself.
TEST(ReservedBytes, are_those_of_the_plan_itself_but_for_one_stage_with_many_micro_batches) {
  plan::Plan plan;
  plan.grad_accum = 3;
  EXPECT_EQ(predict::arena_plan(plan).grad_accum, 3);
  plan.grad_accum = 10;
  EXPECT_EQ(predict::arena_plan(plan).grad_accum, 3);
  plan.pp = 4;
  plan.grad_accum = 13;
  EXPECT_EQ(predict::arena_plan(plan).grad_accum, 13);
  EXPECT_EQ(predict::representative_plan(plan).grad_accum, 6);
  plan.schedule = plan::ScheduleKind::gpipe;  // holds all of them
  EXPECT_EQ(predict::representative_plan(plan).grad_accum, 13);
}

TEST(ReservedBytes, of_a_framework_are_its_allocators_share) {
  const model::ModelConfig config = test::small_model("llama");
  plan::Plan plan;
  plan.seq = 16;
  plan.layers_per_stage = {6};
  plan::Profile profile = plan::load_profile("standard");
  profile.reserved_over_allocated = 1.25;
  const predict::MemoryPrediction memory = predict::predict_memory(config, plan, profile);
  EXPECT_EQ(memory.reserved_bytes.count(), (memory.allocated_bytes.count() * 5 + 3) / 4);
}

// The ledger is as it was: what the device holds beside it is corrected, in predictions and in what
// a search weighs, and an arena that is placed needs none.
TEST(ReservedBytes, are_corrected_by_the_users_own_runs) {
  const model::ModelConfig config = test::small_model("llama");
  plan::Plan plan;
  plan.seq = 16;
  plan.layers_per_stage = {6};
  for (const char* name : {"accelerate", "standard", "fourhold"}) {
    plan::Profile profile = plan::load_profile(name);
    const predict::MemoryPrediction before = predict::predict_memory(config, plan, profile);
    profile.memory_correction = 1.5;
    const predict::MemoryPrediction after = predict::predict_memory(config, plan, profile);
    const bool is_placed = profile.reservation == plan::Reservation::placement;
    const std::int64_t reserved = before.reserved_bytes.count();
    EXPECT_EQ(after.allocated_bytes, before.allocated_bytes) << name;
    EXPECT_EQ(after.reserved_bytes.count(), is_placed ? reserved : (reserved * 3 + 1) / 2) << name;
    EXPECT_EQ(predict::predict_memory(config, plan, profile, predict::WithLedger::no).needed_bytes,
              is_placed ? after.allocated_bytes : after.needed_bytes)
        << name;
  }
}

using KeyedOffsets = std::map<std::string, std::vector<std::int64_t>>;

// Of three micro-batches: the first, those between and the last.
std::int32_t stands_for(std::int32_t micro_batch, std::int64_t count) {
  if (micro_batch <= 0) return micro_batch;
  return micro_batch + 1 == count ? 2 : 1;
}

// On one stage, each micro-batch between the first and the last lies where the second lay: the
// arena of three holds any number.
RC_GTEST_PROP(ReservedBytes, of_three_micro_batches_are_enough_for_more_on_one_stage, ()) {
  const model::ModelConfig config = test::small_model(test::pick<std::string>({"llama", "gpt2"}));
  const plan::Profile profile = plan::load_profile("fourhold");
  std::optional<plan::Plan> plan = random_engine_plan(config);
  RC_PRE(plan.has_value());
  plan->pp = 1;
  plan->vpp = 1;
  plan->layers_per_stage = {config.layer_count()};
  plan->schedule = plan::ScheduleKind::one_f_one_b;
  plan->grad_accum = test::pick<std::int64_t>({4, 5, 9});

  const ledger::Ledger few =
      predict::expanded_ledger(config, predict::arena_plan(*plan), profile, 0);
  const ledger::Placement arena = ledger::place(few.entries);
  KeyedOffsets offsets;  // of one key in the order of their lives
  for (std::size_t i = 0; i < few.entries.size(); ++i) {
    offsets[to_string(few.entries[i].key)].push_back(arena.offsets[i]);
  }
  const ledger::Ledger all = predict::expanded_ledger(config, *plan, profile, 0);
  ledger::Placement repeated;
  repeated.arena_bytes = arena.arena_bytes;
  std::map<std::string, std::size_t> seen;
  for (const ledger::Entry& entry : all.entries) {
    ledger::Key key = entry.key;
    key.micro_batch = stands_for(key.micro_batch, plan->grad_accum);
    const std::vector<std::int64_t>& lives = offsets[to_string(key)];
    RC_ASSERT(!lives.empty());
    repeated.offsets.push_back(lives[seen[to_string(entry.key)]++ % lives.size()]);
  }
  RC_ASSERT(!ledger::find_fault(all.entries, repeated).has_value());
}

}  // namespace
}  // namespace fourhold

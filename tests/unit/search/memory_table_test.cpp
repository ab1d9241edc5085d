#include "fourhold/search/memory_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fourhold/predict/memory.h"
#include "fourhold/search/shapes.h"
#include "tests/unit/predict/small_plans.h"

namespace fourhold {
namespace {

// The search sums what predict_memory walks: the same live peak and host bytes, whatever the plan.
RC_GTEST_PROP(MemoryTable, EqualsTheLedgerToTheByte, ()) {
  const model::ModelConfig config = test::small_model(
      test::pick<std::string>({"llama", "gpt2", "mixtral", "gemma2", "deepseek_v2"}));
  plan::Profile profile = plan::load_profile(test::pick<std::string>(plan::profile_names()));
  profile.zero_stages = {0, 1, 2, 3};
  profile.splits = {"tp", "sp", "pp", "vpp", "cp", "ep", "offload"};
  profile.time.products =
      test::pick<plan::ProductFormat>({plan::ProductFormat::compute, plan::ProductFormat::fp8});
  profile.gradient_lifetime = test::pick<plan::GradientLifetime>(
      {plan::GradientLifetime::persistent, plan::GradientLifetime::backward_to_step});
  const std::optional<plan::Plan> plan = test::random_plan(config, profile);
  RC_PRE(plan.has_value());

  search::Lowering lowering(config, profile, std::nullopt);
  const search::LoweredBlocks& lowered = lowering.blocks(*plan);
  search::Shapes shapes(config, profile);
  search::Shape& shape = shapes.of(*plan, lowered.blocks);
  const std::vector<search::Storage> storages{{.zero = plan->zero, .offload = plan->offload}};
  const plan::StateMotion motion = plan::motion_of(*plan, plan::recipe_of(*plan, profile));
  const search::StageMoments& moments = shapes.moments(shape, *plan, lowered.blocks, motion);
  const auto bases = search::stage_bases(config, lowered, shape.pipeline, *plan, profile, storages);
  const auto states = search::storage_states(lowered.blocks, *plan, profile, storages);
  const search::StorageBlocks blocks =
      search::storage_blocks(lowered.facts.lifetimes, states[0], profile.gradient_lifetime);
  search::AliveSums alive;
  search::sum_alive(moments, blocks, alive);
  std::vector<std::int64_t> work_bytes;
  search::weigh_works(shapes.works(plan->recompute), blocks, work_bytes);
  const search::PlanBytes bytes =
      search::plan_bytes(moments, alive, bases[0], work_bytes, plan->micro_batch);

  const predict::MemoryPrediction memory =
      predict::predict_memory(config, *plan, profile, predict::WithLedger::no);
  RC_LOG() << to_string(*plan) << "\n";
  RC_ASSERT(bytes.live_peak == memory.allocated_bytes.count());
  RC_ASSERT(bytes.host == memory.host_bytes.count());
  RC_ASSERT(bytes.host_staging == memory.host_staging_bytes.count());
}

}  // namespace
}  // namespace fourhold

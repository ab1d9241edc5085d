#include "tests/interpreter/plans.h"

namespace fourhold::interpreter {

plan::Profile any_profile() {
  plan::Profile profile;
  profile.name = "test";
  profile.zero_stages = {0, 1, 2, 3};
  profile.splits = {"tp", "sp", "pp", "vpp", "cp", "ep", "offload"};
  return profile;
}

std::vector<plan::Profile> adapter_profiles() {
  std::vector<plan::Profile> list(3, any_profile());
  list[0].switches.adapter_input = model::AdapterInput::copied;
  list[0].switches.quantised_input = model::QuantisedInput::kept;
  list[1].switches.adapter_input = model::AdapterInput::wide;
  list[1].switches.norm = model::NormSaving::wide;
  list[2].switches.fused_qkv = model::FusedQkv::views;
  list[2].switches.packed_adapters = model::PackedAdapters::scattered;
  list[2].switches.loss = model::LossSaving::held_chunks;
  list[2].switches.trained_copies = model::TrainedCopies::beside;
  return list;
}

plan::Plan finished(plan::Plan plan, const model::ModelConfig& config) {
  constexpr std::int64_t kSequences = 4;
  constexpr std::int64_t kTokens = 8;
  if (plan.global_batch == 1) plan.global_batch = kSequences;
  plan.seq = kTokens;
  plan.micro_batch = plan.global_batch / (plan.dp * plan.grad_accum);
  if (plan.layers_per_stage.empty()) {
    plan.layers_per_stage = plan::canonical_layout(config.layer_count(), plan.pp * plan.vpp);
  }
  if (plan.vpp > 1) plan.schedule = plan::ScheduleKind::interleaved;
  plan.profile = "test";
  return plan;
}

plan::Plan one_rank(const model::ModelConfig& config) { return finished({}, config); }

}  // namespace fourhold::interpreter

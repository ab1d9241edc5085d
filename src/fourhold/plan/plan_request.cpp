#include "fourhold/plan/plan_request.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/plan_fields.h"
#include "fourhold/plan/validate.h"

namespace fourhold::plan {
namespace {

// "the nearest counts are 6 or 9, the nearest tp for 8 devices 2 or 4": the second where one degree
// alone is above 1.
std::string count_hint(const Plan& plan, std::int64_t count, std::int64_t model_ranks) {
  std::string hint =
      fmt::format("the nearest counts are {}", to_string(multiples_around(count, model_ranks)));
  for (const auto& [name, degree] :
       {std::pair{"tp", plan.tp}, std::pair{"pp", plan.pp}, std::pair{"cp", plan.cp}}) {
    if (degree != model_ranks) continue;
    hint += fmt::format(", the nearest {} for {} {}", name, counted(count, "device"),
                        nearest_text(divisors(count), degree));
  }
  return hint;
}

void choose_degrees(const PlanRequest& request, Plan& plan) {
  const std::int64_t model_ranks = saturating_product({plan.tp, plan.pp, plan.cp});
  if (!request.count.has_value()) return;
  const std::int64_t count = *request.count;
  if (!request.dp.has_value()) {
    if (count % model_ranks != 0) {
      throw Error("count",
                  fmt::format("{} devices are not a multiple of tp x pp x cp = {} x {} x {} = {}",
                              count, plan.tp, plan.pp, plan.cp, model_ranks),
                  count_hint(plan, count, model_ranks));
    }
    plan.dp = count / model_ranks;
    return;
  }
  const std::int64_t ranks = saturating_product({model_ranks, plan.dp});
  if (ranks == count) return;
  throw Error("dp",
              fmt::format("tp x pp x cp x dp = {} x {} x {} x {} = {}, but count is {}", plan.tp,
                          plan.pp, plan.cp, plan.dp, ranks, count),
              "leave out dp or count: each follows from the other");
}

// global_batch = micro_batch x grad_accum x dp, with any of them missing.
void choose_batch(const PlanRequest& request, Plan& plan) {
  if (!request.grad_accum.has_value()) plan.grad_accum = plan.vpp > 1 ? plan.pp : 1;
  if (!request.global_batch.has_value()) {
    plan.global_batch = saturating_product({plan.micro_batch, plan.grad_accum, plan.dp});
    return;
  }
  if (request.micro_batch.has_value() && request.grad_accum.has_value()) return;  // validate()'s
  const bool micro_follows = request.grad_accum.has_value();
  const BatchStep unit = micro_follows ? BatchStep::grad_accum : BatchStep::micro_batch;
  const std::int64_t known = micro_follows ? plan.grad_accum : plan.micro_batch;
  const std::int64_t step = saturating_product({known, plan.dp});
  if (plan.global_batch % step != 0) refuse_batch(plan, unit);
  (micro_follows ? plan.micro_batch : plan.grad_accum) = plan.global_batch / step;
}

// What says how adapters are, where nothing says that there are any: whether weights are trained or
// frozen is not chosen in silence.
void refuse_adapters_without_tuning(const PlanRequest& request, const Plan& plan) {
  if (request.tuning.has_value()) return;
  const bool quantised = is_quantised(plan.base_precision);
  const auto refuse_if = [quantised](bool given, const char* field) {
    if (!given) return;
    throw Error(field, "is of adapters beside frozen weights, but tuning is not given",
                fmt::format("add tuning {} (--tuning {}), or leave it out: all weights are then "
                            "trained",
                            quantised ? "qlora" : "lora", quantised ? "qlora" : "lora"));
  };
  refuse_if(plan.base_precision != BasePrecision::automatic, "base_precision");
  refuse_if(plan.lora_rank > 0, "lora_rank");
  refuse_if(request.lora_targets.has_value(), "lora_targets");
  refuse_if(plan.lora_dropout > 0, "lora_dropout");
  refuse_if(plan.modules_to_save != model::TrainedModules::none, "modules_to_save");
}

void choose_tuning(const PlanRequest& request, Plan& plan) {
  refuse_adapters_without_tuning(request, plan);
  if (!request.lora_rank.has_value() && plan.tuning != Tuning::full) {
    plan.lora_rank = kDefaultLoraRank;
  }
}

[[noreturn]] void refuse_missing_seq(const model::ModelConfig& config) {
  throw Error("seq", "is missing",
              config.max_positions > 0
                  ? fmt::format("give the tokens per sequence; the model's longest is {}",
                                config.max_positions)
                  : std::string("give the tokens per sequence"));
}

// The profile's first ZeRO stage; with shard groups the first that shards anything.
int first_stage(const PlanRequest& request, const Profile& profile) {
  const std::vector<int>& stages = profile.zero_stages;
  if (request.shard_groups.value_or(1) == 1) return stages.front();
  const auto shards = std::find_if(stages.begin(), stages.end(), [](int zero) { return zero > 0; });
  return shards == stages.end() ? stages.front() : *shards;
}

}  // namespace

Plan complete(const PlanRequest& request, const model::ModelConfig& config,
              const Profile& profile) {
  Plan plan;
  plan.profile = profile.name;
  if (!profile.zero_stages.empty()) plan.zero = first_stage(request, profile);
  visit_fields(
      [](const FieldInfo& /*info*/, const auto& wanted, auto& value) {
        if (wanted.has_value()) value = *wanted;
      },
      request, plan);
  if (!request.seq.has_value()) refuse_missing_seq(config);
  check_ranges(plan);

  choose_degrees(request, plan);
  choose_batch(request, plan);
  choose_tuning(request, plan);
  if (!request.sp.has_value()) plan.sp = plan.tp > 1 && profile.can("sp");
  if (!request.schedule.has_value() && plan.vpp > 1) plan.schedule = ScheduleKind::interleaved;
  if (!request.layers_per_stage.has_value()) {
    plan.layers_per_stage =
        canonical_layout(config.layer_count(), saturating_product({plan.pp, plan.vpp}));
  }
  validate(plan, config, profile);
  return plan;
}

PlanRequest whole_request(const Plan& plan) {
  PlanRequest request;
  visit_fields([](const FieldInfo& /*info*/, auto& field, const auto& value) { field = value; },
               request, plan);
  return request;
}

OpenChoices open_choices(const PlanRequest& request) {
  const bool pipeline = request.pp.value_or(1) > 1;
  const bool batch_decides = request.global_batch.has_value() && request.grad_accum.has_value();
  return {.zero = !request.zero.has_value(),
          .recompute = !request.recompute.has_value(),
          .micro_batch = !request.micro_batch.has_value() && !batch_decides,
          .offload = !request.offload.has_value(),
          .vpp = pipeline && !request.vpp.has_value() && !request.schedule.has_value() &&
                 !request.layers_per_stage.has_value()};
}

}  // namespace fourhold::plan

// What a user asks for: any part of a plan. The rest is filled in, or left open for a search.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/field_info.h"
#include "fourhold/plan/plan.h"

namespace fourhold::plan {

// The fields of Plan, each as given or not, and the devices there are.
struct PlanRequest {
  std::optional<std::int64_t> tp{};
  std::optional<bool> sp{};
  std::optional<std::int64_t> pp{};
  std::optional<std::int64_t> vpp{};
  std::optional<std::int64_t> cp{};
  std::optional<std::int64_t> ep{};
  std::optional<std::int64_t> dp{};
  std::optional<int> zero{};
  std::optional<std::int64_t> shard_groups{};
  std::optional<std::int64_t> micro_batch{};
  std::optional<std::int64_t> grad_accum{};
  std::optional<std::int64_t> global_batch{};
  std::optional<std::int64_t> seq{};
  std::optional<RecomputePolicy> recompute{};
  std::optional<ScheduleKind> schedule{};
  std::optional<std::vector<std::int64_t>> layers_per_stage{};
  std::optional<Offload> offload{};
  std::optional<ActivationOffload> activation_offload{};
  std::optional<Precision> precision{};
  std::optional<Optimizer> optimizer{};
  std::optional<MomentFormat> first_moment{};
  std::optional<MomentFormat> second_moment{};
  std::optional<GradientAccumulation> gradient_accumulation{};
  std::optional<std::int64_t> loss_chunk{};
  std::optional<std::int64_t> prediction_layers{};
  std::optional<Tuning> tuning{};
  std::optional<std::int64_t> lora_rank{};
  std::optional<model::AdapterTargets> lora_targets{};
  std::optional<double> lora_dropout{};
  std::optional<BasePrecision> base_precision{};
  std::optional<model::TrainedModules> modules_to_save{};
  std::optional<std::string> profile{};
  std::optional<std::int64_t> threads{};
  std::optional<std::string> isa{};

  std::optional<std::int64_t> count{};  // devices; see kCountField
};

// `count` is a flag and a field of requests, not of plans. Ten times the largest run there is, and
// as many as a search answers for in well under a minute.
inline constexpr FieldInfo kCountField{
    "count", "devices: tp x pp x cp x dp", {1, std::int64_t{1} << 20}};

// The rank of adapters where none is given: the default of Hugging Face PEFT (LoraConfig.r).
inline constexpr std::int64_t kDefaultLoraRank = 8;

// The first legal plan that says what the request says:
// - tp, pp, vpp, cp, ep 1; dp = count / (tp pp cp), or 1 without a count;
// - sp where tp > 1 and the profile has it; interleaved 1F1B where vpp > 1, else 1F1B;
// - layers_per_stage by canonical_layout;
// - micro_batch 1; grad_accum from global_batch, or 1 (pp where vpp > 1, the least that works);
//   global_batch = micro_batch x grad_accum x dp;
// - precision bf16, optimizer adamw, loss in one piece, all weights trained; fields of adapters
//   without a tuning are refused, kDefaultLoraRank is taken without a rank;
// - zero the profile's lowest stage, recompute and offload none: see open_choices.
// `seq` must be given. Throws Error for what contradicts itself (the nearest values that do not),
// and for what validate() refuses.
[[nodiscard]] Plan complete(const PlanRequest& request, const model::ModelConfig& config,
                            const Profile& profile);

// The request that leaves nothing of the plan open.
[[nodiscard]] PlanRequest whole_request(const Plan& plan);

// Which choices the request leaves to a search: complete() gave those a first value only.
struct OpenChoices {
  bool zero = false;
  bool recompute = false;
  bool micro_batch = false;  // not where global_batch and grad_accum decide it
  bool offload = false;
  bool vpp = false;  // only in a pipeline whose schedule and layout are not given
  [[nodiscard]] bool any() const { return zero || recompute || micro_batch || offload || vpp; }
};
[[nodiscard]] OpenChoices open_choices(const PlanRequest& request);

// A plan file, whole or in part, with or without `count`. Errors as plan_from_json, but that
// nothing is required.
[[nodiscard]] PlanRequest request_from_json(const json::Value& value, const std::string& where);

// Sets the field of that name from the text of a flag: "8", "4K", "full:3", "11,12,12,11". `where`
// is how Errors name it ("--micro-batch"). Asserts that the field exists.
void set_field(PlanRequest& request, std::string_view name, std::string_view text,
               const std::string& where);

}  // namespace fourhold::plan

// The plan: how one training run is split, as one validated value.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/model/adapters.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/moment_format.h"
#include "fourhold/plan/profile.h"
#include "fourhold/plan/recipe.h"
#include "fourhold/plan/recompute_policy.h"

namespace fourhold::plan {

enum class ScheduleKind : std::uint8_t { gpipe, one_f_one_b, interleaved };
inline constexpr std::array<std::string_view, 3> kScheduleNames{"gpipe", "1f1b", "interleaved"};

// What lies in host memory instead of the device.
enum class Offload : std::uint8_t { none, optimizer, optimizer_gradients, all };
inline constexpr std::array<std::string_view, 4> kOffloadNames{"none", "optimizer",
                                                               "optimizer+gradients", "all"};

// Activations that lie in host memory from forward to backward: what enters each layer, the
// residual stream.
enum class ActivationOffload : std::uint8_t { none, residual };
inline constexpr std::array<std::string_view, 2> kActivationOffloadNames{"none", "residual"};

enum class Tuning : std::uint8_t { full, lora, qlora };
inline constexpr std::array<std::string_view, 3> kTuningNames{"full", "lora", "qlora"};

// Modules trained whole beside adapters: PEFT's modules_to_save.
inline constexpr std::array<std::string_view, 4> kModulesToSaveNames{"none", "embedding", "head",
                                                                     "embedding+head"};

// Instruction sets an engine's kernels are built for, `auto` the best of the machine.
inline constexpr std::array<std::string_view, 6> kIsaNames{"auto",   "portable",    "avx2",
                                                           "avx512", "avx512_bf16", "amx"};

// Field names here are the names in JSON and of the flags. Every field has a value: what a user
// leaves out is chosen before a Plan exists (see PlanRequest).
struct Plan {
  std::int64_t tp = 1;            // tensor parallel
  bool sp = false;                // sequence parallel within tp
  std::int64_t pp = 1;            // pipeline stages
  std::int64_t vpp = 1;           // virtual chunks per stage (interleaved)
  std::int64_t cp = 1;            // context parallel
  std::int64_t ep = 1;            // expert parallel, inside dp x cp
  std::int64_t dp = 1;            // data parallel
  int zero = 0;                   // ZeRO stage over dp x cp
  std::int64_t shard_groups = 1;  // of dp x cp, each with all that ZeRO shards
  std::int64_t micro_batch = 1;   // sequences per micro-batch
  std::int64_t grad_accum = 1;    // micro-batches per step and replica
  std::int64_t global_batch = 1;  // micro_batch x grad_accum x dp
  std::int64_t seq = 0;           // tokens per sequence
  RecomputePolicy recompute = {};
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  std::vector<std::int64_t> layers_per_stage =
      {};  // pp x vpp virtual stages: chunk 0 of all stages, ...
  Offload offload = Offload::none;
  ActivationOffload activation_offload = ActivationOffload::none;
  Precision precision = Precision::bf16;
  Optimizer optimizer = Optimizer::adamw;
  MomentFormat first_moment = MomentFormat::automatic;
  MomentFormat second_moment = MomentFormat::automatic;
  GradientAccumulation gradient_accumulation = GradientAccumulation::same_as_gradient;
  std::int64_t loss_chunk = 0;         // tokens per chunk of head and loss, 0 = whole
  std::int64_t prediction_layers = 0;  // of multi-token prediction, 0 = none
  Tuning tuning = Tuning::full;
  std::int64_t lora_rank = 0;
  model::AdapterTargets lora_targets = model::AdapterTargets::all();
  double lora_dropout = 0;
  BasePrecision base_precision = BasePrecision::automatic;              // of frozen weights
  model::TrainedModules modules_to_save = model::TrainedModules::none;  // trained whole
  std::string profile = "standard";
  std::int64_t threads = 1;  // engine
  std::string isa = "auto";  // engine

  [[nodiscard]] std::int64_t devices() const { return tp * pp * cp * dp; }
};
// Every field equal.
[[nodiscard]] bool operator==(const Plan& a, const Plan& b);

// The canonical uneven layout over `stages` virtual stages: ceil everywhere, then one fewer on the
// last, first, last but one, second ... until the layers add up. Throws Error if stages > layers.
[[nodiscard]] std::vector<std::int64_t> canonical_layout(std::int64_t layers, std::int64_t stages);

// What `automatic` stands for: the compute type, or nf4 under qlora.
[[nodiscard]] BasePrecision base_precision_of(const Plan& plan);

// The recipe of a plan under a profile.
[[nodiscard]] Recipe recipe_of(const Plan& plan, const Profile& profile);

// The model's switches under a plan: the profile's, with what the plan decides filled in.
[[nodiscard]] model::Switches switches_of(const Plan& plan, const Profile& profile);

// tp degrees the attention and widths of this model allow: `clean` divide heads and kv heads,
// `replicated` divide the heads and are multiples of the kv heads (each kv head on several ranks).
struct TensorDegrees {
  std::vector<std::int64_t> clean;
  std::vector<std::int64_t> replicated;
};
[[nodiscard]] TensorDegrees tensor_degrees(const model::ModelConfig& config);

// Throws Error naming the field, the whole plan, the nearest legal values and the next step when
// the plan cannot run this model under this profile: degrees that do not divide heads, widths,
// experts, layers or sequence; a batch that does not multiply out (the nearest two that do); splits
// the profile cannot express.
void validate(const Plan& plan, const model::ModelConfig& config, const Profile& profile);

// JSON of a plan, its fields in the order of plan_fields.h. Reading refuses unknown fields with the
// nearest name and values outside their range; an absent field has its default, but for `seq`.
[[nodiscard]] json::Value to_json(const Plan& plan);
[[nodiscard]] Plan plan_from_json(const json::Value& value, const std::string& where);
// One line: "tp 8 (sp), pp 16, dp 128, zero 1, micro-batch 1 x 16 ...", leaving out what is off.
[[nodiscard]] std::string to_string(const Plan& plan);

}  // namespace fourhold::plan

// The one list of a plan's fields.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fourhold/plan/field_info.h"
#include "fourhold/plan/plan.h"

namespace fourhold::plan {

template <>
inline constexpr std::span<const std::string_view> kEnumNames<ScheduleKind>{kScheduleNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<Offload>{kOffloadNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<ActivationOffload>{
    kActivationOffloadNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<Precision>{kPrecisionNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<Optimizer>{kOptimizerNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<GradientAccumulation>{
    kGradientAccumulationNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<Tuning>{kTuningNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<BasePrecision>{kBasePrecisionNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::TrainedModules>{
    kModulesToSaveNames};

// Far above any run, and small enough that products of them are checked once and stay in int64.
inline constexpr IntegerRange kDegreeRange{1, std::int64_t{1} << 20, false};
inline constexpr IntegerRange kStageLayersRange{0, std::int64_t{1} << 20};
// Each stage and each of its chunks is walked on its own: beyond these an answer would take
// minutes. Published runs stay below 128 stages and 32 chunks.
inline constexpr IntegerRange kStageRange{1, std::int64_t{1} << 11, false};
inline constexpr IntegerRange kChunkRange{1, std::int64_t{1} << 6, false};
// Divides dp x cp / ep or is refused by it: no product has it.
inline constexpr IntegerRange kGroupsRange{1, std::int64_t{1} << 62};
inline constexpr IntegerRange kCountRange{1, std::int64_t{1} << 31};

// Calls visit(FieldInfo, field of each owner...) for every field, in the order of printing. Owners
// are Plans or PlanRequests, whose fields have the same names: one owner to read or write it, two
// to compare or copy.
template <class Visitor, class... Owners>
void visit_fields(Visitor&& visit, Owners&... owners) {
  visit(FieldInfo{"tp", "tensor-parallel degree: ranks that share each layer", kDegreeRange},
        owners.tp...);
  visit(FieldInfo{"sp", "sequence parallelism between the tensor-parallel parts of a layer"},
        owners.sp...);
  visit(FieldInfo{"pp", "pipeline stages", kStageRange}, owners.pp...);
  visit(FieldInfo{"vpp", "virtual chunks of layers per stage (interleaved 1F1B)", kChunkRange},
        owners.vpp...);
  visit(FieldInfo{"cp", "context-parallel degree: ranks that share each sequence", kDegreeRange},
        owners.cp...);
  visit(FieldInfo{"ep", "expert-parallel degree, inside dp x cp", kDegreeRange}, owners.ep...);
  visit(FieldInfo{"dp", "data-parallel replicas", kDegreeRange}, owners.dp...);
  visit(
      FieldInfo{
          "zero", "ZeRO stage over dp x cp: what is sharded, 0 nothing to 3 all state", {0, 3}},
      owners.zero...);
  visit(FieldInfo{"shard_groups", "groups of dp x cp that each hold all ZeRO shards (HSDP)",
                  kGroupsRange},
        owners.shard_groups...);
  visit(FieldInfo{"micro_batch", "sequences per micro-batch of one replica", kCountRange},
        owners.micro_batch...);
  visit(FieldInfo{"grad_accum", "micro-batches per step of one replica", kCountRange},
        owners.grad_accum...);
  visit(FieldInfo{"global_batch", "sequences per step: micro_batch x grad_accum x dp", kCountRange},
        owners.global_batch...);
  visit(FieldInfo{"seq", "tokens per sequence", kCountRange}, owners.seq...);
  visit(FieldInfo{"recompute",
                  "none, selective[:attention,norm,...], full, full:K, or save:NAME,..."},
        owners.recompute...);
  visit(FieldInfo{"schedule", "order of micro-batches in the pipeline"}, owners.schedule...);
  visit(FieldInfo{"layers_per_stage", "layers of every virtual stage: first chunks, then seconds",
                  kStageLayersRange},
        owners.layers_per_stage...);
  visit(FieldInfo{"offload", "state kept in host memory"}, owners.offload...);
  visit(FieldInfo{"activation_offload", "activations kept in host memory: what enters each layer"},
        owners.activation_offload...);
  visit(FieldInfo{"precision", "number formats of weights, master copy and arithmetic"},
        owners.precision...);
  visit(FieldInfo{"optimizer", "optimizer, and so its state per parameter"}, owners.optimizer...);
  visit(FieldInfo{"first_moment", "format of the optimizer's first moment; auto: the profile's"},
        owners.first_moment...);
  visit(FieldInfo{"second_moment", "format of its second moment; auto: the profile's"},
        owners.second_moment...);
  visit(FieldInfo{"gradient_accumulation", "format gradients are added up in"},
        owners.gradient_accumulation...);
  visit(FieldInfo{"loss_chunk",
                  "tokens per chunk of head and loss, 0 = all at once",
                  {0, kCountRange.most}},
        owners.loss_chunk...);
  visit(FieldInfo{"prediction_layers",
                  "layers of multi-token prediction trained behind the last, 0 = none",
                  {0, 64}},
        owners.prediction_layers...);
  visit(FieldInfo{"tuning", "train all weights, or low-rank adapters beside frozen ones"},
        owners.tuning...);
  visit(FieldInfo{"lora_rank",
                  "rank of the adapters of lora and qlora, 8 where none is given",
                  {0, 1 << 16}},
        owners.lora_rank...);
  visit(FieldInfo{"lora_targets",
                  "linears with an adapter: all-linear, attention, attention-qv, mlp, or q,v ..."},
        owners.lora_targets...);
  visit(FieldInfo{"lora_dropout", "dropout before each adapter, such as 0.05", {}, {0, 0.99}},
        owners.lora_dropout...);
  visit(FieldInfo{"base_precision", "format of the frozen weights; auto: 16 bits, nf4 with qlora"},
        owners.base_precision...);
  visit(FieldInfo{"modules_to_save", "what is trained whole beside the adapters"},
        owners.modules_to_save...);
  visit(FieldInfo{"profile", "framework whose bytes are counted: a name or a file"},
        owners.profile...);
  visit(FieldInfo{"threads", "engine: threads of each rank", {1, 1 << 12}}, owners.threads...);
  visit(FieldInfo{"isa", "engine: instruction set, auto = the best there is"}, owners.isa...);
}

}  // namespace fourhold::plan

// The one list of a profile's fields, as data/profiles/*.json spell them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fourhold/base/dtype.h"
#include "fourhold/plan/field_info.h"
#include "fourhold/plan/profile.h"

namespace fourhold::plan {

inline constexpr std::array<std::string_view, kDTypeCount> kDTypeNames = [] {
  std::array<std::string_view, kDTypeCount> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kDTypes[i].name;
  return names;
}();
inline constexpr std::array<std::string_view, 4> kAttentionSavingNames{"flash", "flash_merged",
                                                                       "unfused", "unfused_wide"};
inline constexpr std::array<std::string_view, 2> kNormSavingNames{"input", "wide"};
inline constexpr std::array<std::string_view, 2> kActivationSavingNames{"fused", "unfused"};
inline constexpr std::array<std::string_view, 9> kLossSavingNames{
    "in_place",   "vocab_parallel", "wide",     "eager",      "eager_parallel",
    "eager_held", "eager_gathered", "compiled", "held_chunks"};
inline constexpr std::array<std::string_view, 3> kFusedQkvNames{"separate", "views", "query"};
inline constexpr std::array<std::string_view, 2> kGatheredNames{"again", "kept"};
inline constexpr std::array<std::string_view, 2> kAdapterStorageNames{"as_weights", "fp32"};
inline constexpr std::array<std::string_view, 3> kAdapterInputNames{"shared", "copied", "wide"};
inline constexpr std::array<std::string_view, 2> kPackedAdaptersNames{"separate", "scattered"};
inline constexpr std::array<std::string_view, 2> kQuantisedInputNames{"dropped", "kept"};
inline constexpr std::array<std::string_view, 2> kTrainedCopiesNames{"replace", "beside"};
inline constexpr std::array<std::string_view, 2> kExpertScalingNames{"after_experts",
                                                                     "inside_activation"};
inline constexpr std::array<std::string_view, 2> kDropoutMasksNames{"from_config", "none"};

template <>
inline constexpr std::span<const std::string_view> kEnumNames<DType>{kDTypeNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<GradientLifetime>{
    kGradientLifetimeNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<Startup>{kStartupNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<Reservation>{kReservationNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<StateCreation>{kStateCreationNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<DeferredCollectives>{
    kDeferredCollectivesNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<RecomputeChoice>{
    kRecomputeChoiceNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<GatherBuffers>{kGatherBuffersNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<Segments>{kSegmentsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<ShardStreams>{kShardStreamsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<WholeWeights>{kWholeWeightsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<UpdatedWeights>{kUpdatedWeightsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<FreshGradients>{kFreshGradientsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<GradientCopy>{kGradientCopyNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<KernelScratch>{kKernelScratchNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<ProductWorkspaces>{
    kProductWorkspacesNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<BatchMask>{kBatchMaskNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<ScoreBuffer>{kScoreBufferNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<StageBorders>{kStageBordersNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<WeightStorage>{kWeightStorageNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<ProductWeights>{kProductWeightsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<DummyWeightGradients>{
    kDummyWeightGradientsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<AttentionKernel>{
    kAttentionKernelNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<ProductFormat>{kProductFormatNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<PipelineSends>{kPipelineSendsNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<GateAndUp>{kGateAndUpNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<ShardedReduction>{
    kShardedReductionNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::AdapterStorage>{
    kAdapterStorageNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::FusedQkv>{kFusedQkvNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::Gathered>{kGatheredNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::AdapterInput>{
    kAdapterInputNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::PackedAdapters>{
    kPackedAdaptersNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::QuantisedInput>{
    kQuantisedInputNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::TrainedCopies>{
    kTrainedCopiesNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::AttentionSaving>{
    kAttentionSavingNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::NormSaving>{kNormSavingNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::ActivationSaving>{
    kActivationSavingNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::LossSaving>{kLossSavingNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::ExpertScaling>{
    kExpertScalingNames};
template <>
inline constexpr std::span<const std::string_view> kEnumNames<model::DropoutMasks>{
    kDropoutMasksNames};

template <>
inline constexpr std::span<const std::string_view> kEnumNames<OtherVendors>{kOtherVendorsNames};

// Calls visit(FieldInfo, field of each profile...) for every field, in the order of printing.
template <class Visitor, class... Owners>
void visit_profile_fields(Visitor&& visit, Owners&... owners) {
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
  visit(FieldInfo{"name", "name of the profile"}, owners.name...);
  visit(FieldInfo{"summary", "what it stands for, and what it leaves out"}, owners.summary...);
  visit(FieldInfo{"sources", "where each constant is from"}, owners.sources...);

  visit(FieldInfo{"weight_storage", "the fp32 words a mixed-precision run keeps"},
        owners.weight_storage...);
  visit(FieldInfo{"product_weights", "where operands in the format of fp8 products are"},
        owners.product_weights...);
  visit(FieldInfo{"first_moment", "format of the optimizer's first moment"},
        owners.first_moment...);
  visit(FieldInfo{"second_moment", "format of its second moment"}, owners.second_moment...);
  visit(FieldInfo{"adapter_storage", "the format of low-rank adapters"}, owners.adapter_storage...);
  visit(FieldInfo{"fp32_gradients", "gradients are added up in fp32"}, owners.fp32_gradients...);
  visit(FieldInfo{"gradient_lifetime", "when gradients take memory"}, owners.gradient_lifetime...);
  visit(FieldInfo{"dummy_weight_gradients", "weight-sized gradients cached per shape"},
        owners.dummy_weight_gradients...);
  visit(FieldInfo{"fp32_host_gradients", "offloaded gradients are fp32"},
        owners.fp32_host_gradients...);

  visit(FieldInfo{"attention", "what attention keeps for backward"}, owners.switches.attention...);
  visit(FieldInfo{"norm", "what an RMS norm keeps"}, owners.switches.norm...);
  visit(FieldInfo{"activation", "whether a gated activation keeps act(gate)"},
        owners.switches.activation...);
  visit(FieldInfo{"loss", "copies of the logits"}, owners.switches.loss...);
  visit(FieldInfo{"expert_scaling", "where routing weights are applied"},
        owners.switches.expert_scaling...);
  visit(FieldInfo{"keep_permuted_rows", "rows are kept before the expert exchange too"},
        owners.switches.keep_permuted_rows...);
  visit(FieldInfo{"keep_router_logits", "the router's logits are kept beside its probabilities"},
        owners.switches.keep_router_logits...);
  visit(FieldInfo{"keep_down_product", "the last linear's result is kept, though nothing reads it"},
        owners.switches.keep_down_product...);
  visit(FieldInfo{"dropout", "whether the config's dropout makes masks"},
        owners.switches.dropout...);
  visit(FieldInfo{"routed_imbalance", "rows of the fullest rank / mean rows", {}, {1, 1e3}},
        owners.switches.routed_imbalance...);
  visit(FieldInfo{"fused_qkv", "whether q, k and v are parts of one tensor"},
        owners.switches.fused_qkv...);
  visit(FieldInfo{"gathered_inputs", "whether linears keep what sequence parallelism gathered"},
        owners.switches.gathered_inputs...);
  visit(FieldInfo{"adapter_input", "what an adapter reads"}, owners.switches.adapter_input...);
  visit(FieldInfo{"packed_adapters", "how the adapters of q, k and v are applied"},
        owners.switches.packed_adapters...);
  visit(FieldInfo{"quantised_input", "whether quantised linears keep their input"},
        owners.switches.quantised_input...);
  visit(FieldInfo{"trained_copies", "whether a module trained whole leaves the frozen one there"},
        owners.switches.trained_copies...);
  visit(FieldInfo{"index", "type of token ids and routing indices"}, owners.switches.index...);

  visit(FieldInfo{"bucket_bytes", "gradient bucket for reduction, 0 = none", {0, kMaxBytes}},
        owners.bucket_bytes...);
  visit(FieldInfo{"gradient_copy", "a second copy of 16-bit gradients"}, owners.gradient_copy...);
  visit(FieldInfo{"prefetched_blocks", "ZeRO-3: blocks gathered ahead", {0, 1 << 10}},
        owners.prefetched_blocks...);
  visit(FieldInfo{"optimizer_temporary", "step temporaries / fp32 bytes of the shard", {}, {0, 16}},
        owners.optimizer_temporary...);
  visit(FieldInfo{"product_workspaces", "whose workspaces for products are counted"},
        owners.product_workspaces...);
  visit(FieldInfo{"cublas_workspace_bytes", "of one handle, 0 = the device's", {0, kMaxBytes}},
        owners.cublas_workspace_bytes...);
  visit(FieldInfo{"grouped_workspaces", "more workspaces for grouped experts", {0, 64}},
        owners.grouped_workspaces...);
  visit(FieldInfo{"batch_mask", "the attention mask of a batch"}, owners.batch_mask...);
  visit(FieldInfo{"score_buffer", "whether unfused attention keeps a buffer of scores"},
        owners.score_buffer...);
  visit(FieldInfo{"stage_borders", "whether what stages exchange stays referenced"},
        owners.stage_borders...);
  visit(FieldInfo{"vocabulary_multiple", "the vocabulary is padded to it", {1, 1 << 20}},
        owners.vocabulary_multiple...);
  visit(FieldInfo{"vocabulary_multiple_times_tp", "the multiple grows with tp"},
        owners.vocabulary_multiple_times_tp...);

  visit(FieldInfo{"runtime_bytes", "device bytes beside the allocator", {0, kMaxBytes}},
        owners.runtime_bytes...);
  visit(FieldInfo{"reservation", "what decides how much is reserved"}, owners.reservation...);
  visit(FieldInfo{"optimizer_state_created", "when the optimizer's moments take memory"},
        owners.optimizer_state_created...);
  visit(FieldInfo{"deferred_collectives", "inputs of collectives wait for their stream"},
        owners.deferred_collectives...);
  visit(FieldInfo{"gather_buffers", "where tensor parallelism gathers"}, owners.gather_buffers...);
  visit(FieldInfo{"segments", "how the allocator takes memory from the device"},
        owners.segments...);
  visit(FieldInfo{"shard_streams", "where messages of sharded state are allocated"},
        owners.shard_streams...);
  visit(FieldInfo{"whole_weights", "sharded weights that stay whole until backward"},
        owners.whole_weights...);
  visit(FieldInfo{"updated_weights", "how ZeRO-1 and 2 bring updated weights to all ranks"},
        owners.updated_weights...);
  visit(FieldInfo{"fresh_gradients", "gradients made beside the accumulator"},
        owners.fresh_gradients...);
  visit(FieldInfo{"kernel_scratch", "whether the scratch of kernels is counted"},
        owners.kernel_scratch...);
  visit(FieldInfo{"reserved_over_allocated", "what the allocator holds / what is used", {}, {1, 8}},
        owners.reserved_over_allocated...);
  visit(FieldInfo{"startup", "what a rank holds while loading"}, owners.startup...);
  visit(FieldInfo{"startup_factor", "what loading takes / those bytes", {}, {1, 8}},
        owners.startup_factor...);
  visit(FieldInfo{"startup_note", "how to lower it"}, owners.startup_note...);

  visit(FieldInfo{"attention_kernel", "newest fused attention it calls"},
        owners.time.attention_kernel...);
  visit(FieldInfo{"attention_rate", "of that kernel's rate", {}, {0.01, 1}},
        owners.time.attention_rate...);
  visit(FieldInfo{"matmul_rate", "of the device's sustained rate", {}, {0.01, 1}},
        owners.time.matmul_rate...);
  visit(
      FieldInfo{"elementwise_traffic", "memory-bound traffic / bytes of the operands", {}, {1, 8}},
      owners.time.elementwise_traffic...);
  visit(FieldInfo{"products", "operands of the products of layers"}, owners.time.products...);
  visit(FieldInfo{"quantisation_traffic", "bytes quantising moves / the least", {}, {1, 16}},
        owners.time.quantisation_traffic...);
  visit(FieldInfo{"fused_softmax_keys", "longest rows of a fused softmax", {0, kMaxBytes}},
        owners.time.fused_softmax_keys...);
  visit(FieldInfo{"host_seconds_per_operation", "host time of one operation", {}, {0, 1}},
        owners.time.host_seconds_per_operation...);
  visit(FieldInfo{"routing_seconds", "host time of a layer's routing", {}, {0, 1}},
        owners.time.routing_seconds...);
  visit(FieldInfo{"host_seconds_per_step", "host time of one step", {}, {0, 60}},
        owners.time.host_seconds_per_step...);
  visit(FieldInfo{"tensor_overlap", "hidden share of tensor-parallel traffic", {}, {0, 1}},
        owners.time.tensor_overlap...);
  visit(FieldInfo{"gate_and_up", "layers that widen a gated feed-forward"},
        owners.time.gate_and_up...);
  visit(FieldInfo{"data_overlap", "share of the last backward that hides gradients", {}, {0, 1}},
        owners.time.data_overlap...);
  visit(FieldInfo{"sharded_reduction", "when gradients of ZeRO-1 are reduced"},
        owners.time.sharded_reduction...);
  visit(FieldInfo{"gathered_visible", "ZeRO-3: visible share of the smaller", {}, {0, 1}},
        owners.time.gathered_visible...);
  visit(FieldInfo{"gradient_wire_bytes", "bytes of one gradient that travels", {1, 4}},
        owners.time.gradient_wire_bytes...);
  visit(FieldInfo{"message_bytes", "gradients of one collective, 0 = all", {0, kMaxBytes}},
        owners.time.message_bytes...);
  visit(FieldInfo{"send_seconds", "synchronisation of stages per send", {}, {0, 1}},
        owners.time.send_seconds...);
  visit(FieldInfo{"pipeline_sends", "what a stage sends under tensor parallelism"},
        owners.time.pipeline_sends...);
  visit(FieldInfo{"stalled_layer_seconds", "wait of a stalled layer per rank of tp", {}, {0, 1}},
        owners.time.stalled_layer_seconds...);

  visit(FieldInfo{"vendors", "makers whose devices it describes, [] = any"}, owners.vendors...);
  visit(FieldInfo{"other_vendors", "what of a device of another maker"}, owners.other_vendors...);
  visit(FieldInfo{"recompute_choice", "how it names what is made again"},
        owners.recompute_choice...);
  visit(FieldInfo{"zero_stages", "ZeRO stages it has", {0, 3}}, owners.zero_stages...);
  visit(FieldInfo{"splits", "splits it has"}, owners.splits...);
}

}  // namespace fourhold::plan

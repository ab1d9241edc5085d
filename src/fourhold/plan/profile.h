// A profile: which bytes a framework holds for the same mathematics, and which splits it can
// express.
//
// Profiles are data files (data/profiles/*.json); each constant there carries its source.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/base/units.h"
#include "fourhold/model/switches.h"
#include "fourhold/plan/moment_format.h"
#include "fourhold/plan/workspaces.h"

namespace fourhold::plan {

// From when gradients take memory: for the whole run, or from the first backward to the step.
enum class GradientLifetime : std::uint8_t { persistent, backward_to_step };
inline constexpr std::array<std::string_view, 2> kGradientLifetimeNames{"persistent",
                                                                        "backward_to_step"};

// What each rank holds while the model is loaded.
enum class Startup : std::uint8_t {
  start_program,          // what the program that starts a run holds (ProgramKind::start)
  sharded,                // weights, master copies and moments of the rank's own part
  full_copy,              // a full copy in the stored dtype first
  full_fp32_copy,         // a full fp32 copy first
  full_copy_beside_shard  // where ranks share the weights, a full copy beside the rank's own part
};
inline constexpr std::array<std::string_view, 5> kStartupNames{
    "start_program", "sharded", "full_copy", "full_fp32_copy", "full_copy_beside_shard"};

// How the bytes a run reserves follow from those it allocates.
enum class Reservation : std::uint8_t {
  share,      // reserved_over_allocated times as many
  allocator,  // a caching allocator, replayed (predict/allocator_replay.h)
  placement   // one arena, placed ahead of the run (ledger/placement.h)
};
inline constexpr std::array<std::string_view, 3> kReservationNames{"share", "allocator",
                                                                   "placement"};

// When the optimizer's moments take memory: before the first step, or in its update, among the
// blocks that activations have left.
enum class StateCreation : std::uint8_t { before_first_step, first_update };
inline constexpr std::array<std::string_view, 2> kStateCreationNames{"before_first_step",
                                                                     "first_update"};

// Whether the memory of a collective's input waits for the communication stream before it is used
// again (record_stream): then a host that runs ahead of the device finds none of it. Where it does
// run ahead: predict/host_lead.h.
enum class DeferredCollectives : std::uint8_t { no, yes };
inline constexpr std::array<std::string_view, 2> kDeferredCollectivesNames{"no", "yes"};

// How the allocator takes memory from the device: in pieces of the size of requests, or by growing
// one range of addresses (expandable_segments:True).
enum class Segments : std::uint8_t { fixed, expandable };
inline constexpr std::array<std::string_view, 2> kSegmentsNames{"fixed", "expandable"};

// Where messages of sharded weights and gradients are allocated: on the stream that computes, or on
// streams of their own, whose memory serves no other. Then a block's weights travel in one flat
// piece and are copied out of it, and its gradients are copied into another.
enum class ShardStreams : std::uint8_t { compute, own };
inline constexpr std::array<std::string_view, 2> kShardStreamsNames{"compute", "own"};

// Sharded weights that stay whole from forward to backward: the head's, whose backward follows its
// forward; those of both ends, which are gathered in one piece (FSDP2's root); or all.
enum class WholeWeights : std::uint8_t { head, ends, all };
inline constexpr std::array<std::string_view, 3> kWholeWeightsNames{"head", "ends", "all"};

// How a framework names what it makes again: groups of operations and the first layers of a rank,
// or whole layers but for what is saved by name (jax.checkpoint's policies).
enum class RecomputeChoice : std::uint8_t { groups, saved_names };
inline constexpr std::array<std::string_view, 2> kRecomputeChoiceNames{"groups", "saved_names"};

// Where tensor parallelism gathers what sequence parallelism split: in a block of its own each
// time, or in two blocks of the framework's that stay, one for inputs and one for gradients.
enum class GatherBuffers : std::uint8_t { each_time, two_for_all };
inline constexpr std::array<std::string_view, 2> kGatherBuffersNames{"each_time", "two_for_all"};

// How ZeRO-1 and 2 bring updated weights to all ranks: in place, or through copies of all of them
// at once: one per rank of the group, and one flat for the library (torch's all_gather of a list).
enum class UpdatedWeights : std::uint8_t { in_place, flat_copies };
inline constexpr std::array<std::string_view, 2> kUpdatedWeightsNames{"in_place", "flat_copies"};

// Gradients that backward makes beside the accumulator: none (they are added in place), or one per
// parameter until the micro-batch's backward ends.
enum class FreshGradients : std::uint8_t { none, until_backward_ends };
inline constexpr std::array<std::string_view, 2> kFreshGradientsNames{"none",
                                                                      "until_backward_ends"};

// A second copy of all 16-bit gradients, for the whole run.
enum class GradientCopy : std::uint8_t {
  none,
  data_parallel,    // in which ranks reduce them: torch's DistributedDataParallel without
                    // gradient_as_bucket_view
  whole_optimizer,  // the same, where ZeRO does not split the optimizer
  beside_fp32       // the parameters' own, where accumulators are fp32 (DeepSpeed's bf16 optimizer)
};
inline constexpr std::array<std::string_view, 4> kGradientCopyNames{
    "none", "data_parallel", "whole_optimizer", "beside_fp32"};

// Whether the scratch of kernels is in the ledger: that of our own engine follows written rules
// (plan/engine_scratch.h), that of others is their libraries' affair.
enum class KernelScratch : std::uint8_t { none, engine };
inline constexpr std::array<std::string_view, 2> kKernelScratchNames{"none", "engine"};

// Whose workspaces for matrix products are in the ledger: cuBLAS's, one for each thread that calls
// it (forward and backward), and TransformerEngine's own beside them.
enum class ProductWorkspaces : std::uint8_t { none, cublas, transformer_engine };
inline constexpr std::array<std::string_view, 3> kProductWorkspacesNames{"none", "cublas",
                                                                         "transformer_engine"};

// Whether batches come with a dense mask of attention: one byte for each pair of tokens of a
// sequence, on the first and the last stage.
enum class BatchMask : std::uint8_t { none, dense };
inline constexpr std::array<std::string_view, 2> kBatchMaskNames{"none", "dense"};

// A buffer of the scores' size that unfused attention adds its product to and keeps for the run.
enum class ScoreBuffer : std::uint8_t { none, persistent };
inline constexpr std::array<std::string_view, 2> kScoreBufferNames{"none", "persistent"};

// Whether what stages exchange is still referenced when the next micro-batch is at work: the
// gradient sent back last and, where chunks are interleaved, the activation sent last and the
// gradient received for the next backward.
enum class StageBorders : std::uint8_t { released, held };
inline constexpr std::array<std::string_view, 2> kStageBordersNames{"released", "held"};

// Which fp32 words a mixed-precision run keeps (see Recipe).
enum class WeightStorage : std::uint8_t {
  compute_with_master,  // 16-bit weights and a separate fp32 master
  fp32_only,            // fp32 weights are the master; 16-bit copies only where gathered (FSDP2)
  compute_only          // 16-bit weights, gradients and moments, no fp32 (torch.optim on 16 bits)
};
inline constexpr std::array<std::string_view, 3> kWeightStorageNames{"compute_with_master",
                                                                     "fp32_only", "compute_only"};

// Where products are in fp8, weights of a layer's matrices in that format: made for each use, or
// kept beside the weights, which then are the 16-bit master of them.
enum class ProductWeights : std::uint8_t { each_use, kept };
inline constexpr std::array<std::string_view, 2> kProductWeightsNames{"each_use", "kept"};

// Megatron caches one weight-sized gradient per distinct shape when its accumulation is fused.
enum class DummyWeightGradients : std::uint8_t { none, one_per_shape };
inline constexpr std::array<std::string_view, 2> kDummyWeightGradientsNames{"none",
                                                                            "one_per_shape"};

// The newest fused attention a framework of that age calls; a device's file says what each
// sustains.
enum class AttentionKernel : std::uint8_t { flash_1, triton, flash_2, flash_3 };
inline constexpr std::array<std::string_view, 4> kAttentionKernelNames{"flash_1", "triton",
                                                                       "flash_2", "flash_3"};

// Whether a stage sends its whole output or 1 / tp of it, gathered again on the other side
// (Narayanan 2021, arXiv 2104.04473, sec. 4.1). With sequence parallelism both are the same.
enum class PipelineSends : std::uint8_t { whole, scattered };
inline constexpr std::array<std::string_view, 2> kPipelineSendsNames{"whole", "scattered"};

// Whether gate and up of a gated feed-forward are one layer, or two of which each reduces the
// gradient of its input over tp (without sequence parallelism, where the gathered input's is
// scattered once).
enum class GateAndUp : std::uint8_t { one_layer, two_layers };
inline constexpr std::array<std::string_view, 2> kGateAndUpNames{"one_layer", "two_layers"};

// How the gradients of ZeRO-1 are reduced: as replicated ones (ProfileTime::data_overlap and
// message_bytes), or after the last backward in one message. That one and the gather of updated
// weights are flat: the piece of each tensor for each rank is copied by a kernel of its own.
enum class ShardedReduction : std::uint8_t { as_replicated, after_backward };
inline constexpr std::array<std::string_view, 2> kShardedReductionNames{"as_replicated",
                                                                        "after_backward"};

// Operands of the products of layers; heads multiply in the compute type.
enum class ProductFormat : std::uint8_t { compute, fp8, fp4 };
inline constexpr std::array<std::string_view, 3> kProductFormatNames{"compute", "fp8", "fp4"};

// What the same mathematics costs in time under this framework. Times of the host are those of
// Python and the launch of kernels; shares are between 0 and 1.
struct ProfileTime {
  AttentionKernel attention_kernel = AttentionKernel::flash_3;
  double attention_rate = 1;          // of that kernel's rate, with the copies around it
  double matmul_rate = 1;             // of the device's sustained rate
  double elementwise_traffic = 1.26;  // bytes of memory-bound operations / bytes of their operands
  ProductFormat products = ProductFormat::compute;
  // Where products have another format: bytes that quantising their operands moves, to the least
  // (an element read in 16 bits, written in 8).
  double quantisation_traffic = 1.13;
  // Longest rows of scores for which unfused attention has one kernel of softmax; longer ones are
  // done operation by operation. 0 = always.
  std::int64_t fused_softmax_keys = 16'384;
  double host_seconds_per_operation = 5.07e-06;
  // Host time of one layer's routing, forward, where its counts of tokens are waited for.
  double routing_seconds = 0;
  double host_seconds_per_step = 0.00929;
  double tensor_overlap = 0;  // share of tp traffic hidden behind products
  GateAndUp gate_and_up = GateAndUp::one_layer;
  double data_overlap = 1;  // share of the last backward that hides gradient traffic
  ShardedReduction sharded_reduction = ShardedReduction::as_replicated;
  double gathered_visible = 0.888;  // ZeRO-3: visible share of the smaller of work and traffic
  int gradient_wire_bytes = 2;      // per gradient that travels
  std::int64_t message_bytes = 250'000'000;  // of one gradient collective, 0 = all in one
  double send_seconds = 0.000189;  // synchronisation of one send and receive between stages
  PipelineSends pipeline_sends = PipelineSends::whole;
  // Wait of one layer and micro-batch for each rank of tp, where tp > 1 and a pipeline crosses
  // nodes: a stall seen in one framework's published runs, of no known cause. 0 = none.
  double stalled_layer_seconds = 0;
  // Measured over predicted step time of the user's own runs; not part of a profile file.
  double step_correction = 1;
};

// What becomes of a framework on devices of other makers than it is described for: it does not run,
// or holds and takes something else.
enum class OtherVendors : std::uint8_t { noted, refused };
inline constexpr std::array<std::string_view, 2> kOtherVendorsNames{"noted", "refused"};

// What a profile may be able to split, or to train beside the model (mtp: multi-token prediction);
// hsdp: ZeRO over a part of the data-parallel ranks.
inline constexpr std::array<std::string_view, 9> kSplitNames{"tp", "sp",      "pp",  "vpp", "cp",
                                                             "ep", "offload", "mtp", "hsdp"};

struct Profile {
  std::string name;
  std::string summary;
  std::vector<std::string> sources;

  // State.
  WeightStorage weight_storage = WeightStorage::compute_with_master;
  ProductWeights product_weights = ProductWeights::each_use;
  MomentFormat first_moment = MomentFormat::automatic;  // where a plan does not say
  MomentFormat second_moment = MomentFormat::automatic;
  model::AdapterStorage adapter_storage = model::AdapterStorage::as_weights;
  bool fp32_gradients = false;  // gradient accumulator in fp32
  GradientLifetime gradient_lifetime = GradientLifetime::persistent;
  DummyWeightGradients dummy_weight_gradients = DummyWeightGradients::none;
  bool fp32_host_gradients = false;  // offloaded gradients are fp32 on the host

  // Activations.
  model::Switches switches;  // compute dtype, dropout and adapters are set by the plan

  // Buffers.
  std::int64_t bucket_bytes = 0;  // gradient bucket for reduction, 0 = none of its own
  GradientCopy gradient_copy = GradientCopy::none;
  std::int64_t prefetched_blocks = 1;    // ZeRO-3: blocks gathered ahead of the one in use
  double optimizer_temporary = 0;        // optimizer step: temporaries / fp32 bytes of the shard
  std::int64_t vocabulary_multiple = 1;  // padded to a multiple of this ...
  bool vocabulary_multiple_times_tp = false;  // ... times tp (Megatron); else to a multiple of tp

  ProductWorkspaces product_workspaces = ProductWorkspaces::none;
  WorkspaceBytes workspaces;                // of the device at hand: not of the profile's file
  std::int64_t cublas_workspace_bytes = 0;  // set in the environment; 0 = the device's default
  std::int64_t grouped_workspaces = 0;      // more of TransformerEngine's, for grouped experts
  BatchMask batch_mask = BatchMask::none;
  ScoreBuffer score_buffer = ScoreBuffer::none;
  StageBorders stage_borders = StageBorders::released;

  // Outside the exact ledger; zero unless a source states it.
  std::int64_t runtime_bytes = 0;  // context and workspaces, on the device beside the allocator
  Reservation reservation = Reservation::share;
  StateCreation optimizer_state_created = StateCreation::before_first_step;
  DeferredCollectives deferred_collectives = DeferredCollectives::no;
  GatherBuffers gather_buffers = GatherBuffers::each_time;
  Segments segments = Segments::fixed;
  ShardStreams shard_streams = ShardStreams::compute;
  WholeWeights whole_weights = WholeWeights::head;  // in a replay; of one stage
  UpdatedWeights updated_weights = UpdatedWeights::in_place;
  FreshGradients fresh_gradients = FreshGradients::none;
  KernelScratch kernel_scratch = KernelScratch::none;
  double reserved_over_allocated = 1;  // caching allocator; 1 = ideal
  // Measured over predicted device memory of the user's own runs; not part of a profile file.
  double memory_correction = 1;
  Startup startup = Startup::start_program;
  double startup_factor = 1;  // of those bytes, from published loading peaks
  std::string startup_note;

  ProfileTime time;

  // Where it runs: makers of devices, as device files name them; none: anywhere.
  std::vector<std::string> vendors;
  OtherVendors other_vendors = OtherVendors::noted;

  // What it can express.
  RecomputeChoice recompute_choice = RecomputeChoice::groups;
  std::vector<int> zero_stages;     // e.g. {0, 1}
  std::vector<std::string> splits;  // of kSplitNames
  [[nodiscard]] bool can(std::string_view split) const;

  // What a run needs of the device over what it allocates.
  [[nodiscard]] double needed_over_allocated() const {
    return reserved_over_allocated * memory_correction;
  }
};

[[nodiscard]] std::vector<std::string> profile_names();
// The built-in profile of that name, or the JSON file at that path. Throws Error with near matches.
[[nodiscard]] Profile load_profile(const std::string& name_or_path);

}  // namespace fourhold::plan

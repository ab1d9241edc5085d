// What each block of a model does, forward and backward: the one description that memory, time and
// the engine read.
//
// An operation names its inputs, outputs, parameters and the tensors its backward needs; nothing
// here is split or recomputed (plan/sharding and plan/recompute do that on this list). Shapes carry
// what each dimension counts, so that a split is a rule about dimensions and not about models.
// Letters: T tokens of a micro-batch (b x s), h hidden, a heads, g kv heads, d head width, f ffn
// width, V vocabulary, E experts, k active experts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/base/inline_vector.h"
#include "fourhold/base/units.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/names.h"
#include "fourhold/model/parameters.h"
#include "fourhold/model/shape.h"
#include "fourhold/model/switches.h"

namespace fourhold::model {

enum class OpKind : std::uint8_t {
  embedding_lookup,  // token_ids [T] -> [T, h]
  add_positions,     // + position_embedding rows, in place
  norm,              // layer or RMS norm over the last width
  // x W^T (+ bias): the one GEMM. Where tp splits its inputs the result is one addend of a sum, and
  // the bias belongs to the first rank's alone.
  linear,
  add_bias,          // the bias of a linear whose output is first summed over ranks
  rotary,            // rotates q or k in place
  split_latent,      // kv_latent -> kv_compressed, k_rotary (views)
  latent_assemble,   // k_and_v, k_rotary (shared by all heads) -> k, v
  attention,         // fused causal attention; keeps log-sum-exp, never a T x s tensor
  attention_scores,  // q k^T, unfused
  softmax,           // masked, over keys
  attention_values,  // probabilities x v
  dropout,
  activation,        // gelu, relu, silu
  gated_activation,  // act(gate) * up
  multiply,          // elementwise; the second factor may be one value per row
  scale_rows,        // rows x sigmoid(score): the shared expert's gate
  cast,
  softcap,        // c tanh(x / c)
  router,         // logits -> probabilities of all experts, indices of the chosen ones
  permute,        // rows copied to their experts' order, k per token
  unpermute,      // rows weighted (or only summed) back to tokens
  add,            // residual sum
  concatenate,    // two tensors side by side in the last dimension
  cross_entropy,  // sum over valid tokens / valid tokens of the global batch
  chunked_loss,   // head and loss in chunks of tokens; also makes the gradients, in its forward
  // Borders that plan/sharding turns into collectives, or into nothing for a group of one.
  enter_branch,      // stream -> inner: all-gather or copy over tp; backward sums
  leave_branch,      // inner partial sums -> stream: reduce-scatter or all-reduce over tp
  exchange_experts,  // rows to the ranks that own their experts, or back: all-to-all over ep
};

// "gated_activation": the enumerator.
[[nodiscard]] std::string_view to_string(OpKind kind);

// Where a tensor of the layer stands when a layer is split: the stream between the branches
// (tokens may be split over tp as well, with sequence parallelism), or inside a branch (heads or
// widths are split over tp, tokens whole).
enum class Region : std::uint8_t { stream, inner };

// Which of several tensors of one name: a name states the mathematics, a variant the version.
enum class Variant : std::uint8_t {
  plain,
  gathered,
  partial,
  lora_a,      // an adapter's first matrix, and what it makes
  lora_b,      // its second, and the update that makes
  lora_input,  // what the first reads, where that is a copy: cast, dropped
  lora_dropped,
  lora_mask,
  lora_wide,  // the update before it is cast to the type of the sum
  sum,
  original,  // the frozen weight beside its trained copy
};

// Layers of multi-token prediction stand in the head's block, with names of their own: what is of
// one has its number, counted behind the model's layers; all else is the block's.
inline constexpr std::int32_t kOfBlock = -1;

using TensorId = std::int16_t;
inline constexpr TensorId kNoTensor = -1;

struct Tensor {
  TensorName name = TensorName::hidden_states;
  Variant variant = Variant::plain;
  Region region = Region::stream;
  DType dtype = DType::bf16;
  TensorId alias_of = kNoTensor;  // a view or an in-place result: same storage
  Shape shape;
  std::int32_t layer = kOfBlock;  // whose it is
};

// A parameter as one block uses it. A tied head uses the embedding's table.
struct BlockParameter {
  Parameter parameter;
  Variant variant = Variant::plain;  // lora_a, lora_b beside a frozen matrix; original
  bool trainable = true;
  bool of_embedding = false;  // tied: the storage belongs to the embedding block
  std::int32_t layer = kOfBlock;
};

// Linears that share an input and run as one GEMM.
enum class PackedGroup : std::uint8_t { none, qkv, gate_up, shared_gate_up, expert_gate_up };

// What a recompute policy can drop as one piece.
// `alternate`: every other linear of a layer: k, the output projection with the residual sum behind
// it, and the up beside a gate (torchtitan's selective recomputation per operation keeps q, v, the
// gate and what ranks of tp scatter). `mlp`: a dense
// feed-forward up to its last linear; `qkv`: the projections that attention reads, with their norms
// and rotations.
enum class RecomputeGroup : std::uint8_t {
  none,
  attention,
  norm,
  activation,
  experts,
  alternate,
  mlp,
  qkv
};

// Memory inside one step of an operation.
struct Transient {
  TensorName name = TensorName::logits;
  Shape shape;
  DType dtype = DType::fp32;
  Region region = Region::inner;
};

struct Operation {
  OpKind kind = OpKind::add;
  PackedGroup packed = PackedGroup::none;
  RecomputeGroup recompute = RecomputeGroup::none;
  RecomputeGroup branch = RecomputeGroup::none;  // a wider group it belongs to as well: mlp or qkv
  ActivationKind activation = ActivationKind::gelu;
  NormKind norm = NormKind::rms_norm;
  Gathered gathered = Gathered::again;  // enter_branch only
  bool of_layer = false;  // of a layer of the model, or of one that stands in the head's block
  std::int32_t layer = kOfBlock;
  // The gradient of the first input takes over the storage of `gradient_in_place_of`.
  TensorId gradient_in_place_of = kNoTensor;
  std::int64_t window = 0;  // attention: tokens of a sliding window, 0 = all before
  InlineVector<TensorId, 4> inputs;
  InlineVector<TensorId, 4> outputs;
  InlineVector<std::int16_t, 2> parameters;  // indices into BlockOperations::parameters
  InlineVector<TensorId, 7> saved;           // inputs and outputs its backward reads
  InlineVector<Transient, 3> forward_transients;
  InlineVector<Transient, 3> backward_transients;
};

struct BlockOperations {
  Block block = Block::layer;
  std::int32_t layer_kind = -1;  // index into ModelConfig::kinds, -1 outside layers
  std::vector<Tensor> tensors;
  std::vector<BlockParameter> parameters;
  std::vector<Operation> operations;
  TensorId input = kNoTensor;   // hidden_states; token_ids for the embedding
  TensorId output = kNoTensor;  // hidden_states_out; loss for the head
};

// The sizes an operation list is made for.
struct BatchSizes {
  std::int64_t micro_batch = 1;  // b, sequences
  std::int64_t seq = 0;          // s, tokens of one sequence, over all context-parallel ranks
};

[[nodiscard]] BlockOperations embedding_operations(const ModelConfig& config,
                                                   const BatchSizes& sizes,
                                                   const Switches& switches);
[[nodiscard]] BlockOperations layer_operations(const ModelConfig& config, std::int32_t layer_kind,
                                               const BatchSizes& sizes, const Switches& switches);
[[nodiscard]] BlockOperations head_operations(const ModelConfig& config, const BatchSizes& sizes,
                                              const Switches& switches);

// The tensor that owns the storage of `id`.
[[nodiscard]] TensorId storage_of(const BlockOperations& block, TensorId id);

}  // namespace fourhold::model

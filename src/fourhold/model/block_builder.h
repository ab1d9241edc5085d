// Builds one block's operation list; the attention, feed-forward and block files use it.
#pragma once

#include <cstdint>
#include <utility>

#include "fourhold/model/operations.h"

namespace fourhold::model {

// Shared by the files that describe blocks. Every method appends and returns the new tensor.
class BlockBuilder {
 public:
  BlockBuilder(const ModelConfig& config, const BatchSizes& sizes, const Switches& switches,
               BlockOperations& block);

  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] const Switches& switches() const { return switches_; }
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }
  [[nodiscard]] std::int64_t seq() const { return seq_; }
  [[nodiscard]] Extent token_extent() const { return {Dim::tokens, tokens_}; }

  void add_parameters(const std::vector<Parameter>& parameters);
  // Whether the operations that follow are those of a layer: so it starts in a layer's block.
  void stand_in_layer(bool inside) { in_layer_ = inside; }
  // Whose what follows is: of the layer of multi-token prediction with that number, or kOfBlock.
  void belong_to(std::int32_t layer) { layer_ = layer; }
  // Index of the parameter of that name, or -1 when this model has none; of several the one added
  // last.
  [[nodiscard]] std::int16_t parameter(TensorName name, Variant variant = Variant::plain) const;
  // The same for a bias. Naming the weight as its own bias says: none here.
  [[nodiscard]] std::int16_t bias_of(TensorName weight, TensorName bias) const;

  TensorId tensor(const Tensor& tensor);
  // [T, h] in the compute type, in the stream.
  TensorId stream_tensor(TensorName name, Variant variant = Variant::plain);
  // A tensor like `of`, with storage of its own; not yet added.
  [[nodiscard]] Tensor new_like(TensorId of, TensorName name) const;
  // A view or in-place result of `of`.
  TensorId alias(TensorName name, TensorId of);
  Operation& operation(OpKind kind);

  struct NormNames {
    TensorName weight, bias, statistics, wide, normalised, out;
  };
  // Normalises `x` over all but its first `row_dims` dimensions; returns the output of its shape.
  TensorId norm(TensorId x, NormKind kind, const NormNames& names, int row_dims = 1);

  struct LinearSpec {
    TensorName weight = TensorName::q_weight;
    TensorName bias = TensorName::q_bias;  // used only where the model has it
    TensorName out = TensorName::q;
    Shape shape;                     // of the output
    Region region = Region::stream;  // of the output
    PackedGroup packed = PackedGroup::none;
    RecomputeGroup recompute = RecomputeGroup::none;
    DType dtype = DType::bf16;
  };
  // x W^T, with a low-rank adapter beside it when the switches ask for one.
  TensorId linear(TensorId x, const LinearSpec& spec);

  // A projection back to the stream: linear over what tp splits, sum over ranks, then the bias.
  TensorId output_linear(TensorId x, const LinearSpec& spec, TensorName summed);
  // The borders between the stream and a branch.
  TensorId enter(TensorId x, Gathered gathered = Gathered::again);
  TensorId leave(TensorId x, TensorName out);
  // This rank's addend of a sum over ranks; plain again where there is one rank.
  void mark_partial(TensorId id);

  TensorId activation(TensorId x, ActivationKind kind, TensorName out, RecomputeGroup group);
  // act(gate) * up, fused or not by the switches. `row_scale`: routing weights inside it, or none.
  TensorId gated_activation(TensorId gate, TensorId up, ActivationKind kind, TensorName activated,
                            TensorName out, RecomputeGroup group, TensorId row_scale = kNoTensor);
  // Dropout of a stream tensor, in place; `x` itself where the probability or the switches say
  // none.
  TensorId dropout(TensorId x, double probability, TensorName mask, TensorName out);
  TensorId add(TensorId a, TensorId b, TensorName out);

  // The operations from the `first` on belong to a wider recompute group too.
  [[nodiscard]] std::size_t operation_count() const { return block_.operations.size(); }
  void mark_branch(std::size_t first, RecomputeGroup branch);
  // The last operation's group.
  void mark_group(RecomputeGroup group) { block_.operations.back().recompute = group; }
  // What operations from `first` on make is kept for backward, though nothing there needs it.
  void keep_results(std::size_t first);
  [[nodiscard]] const Tensor& at(TensorId id) const;

 private:
  // What an adapter does beside a linear; in adapter_operations.cpp.
  TensorId adapter(TensorId x, TensorId base, const LinearSpec& spec);
  TensorId adapter_input(TensorId x, const LinearSpec& spec);
  // A new tensor like `of` but for its variant and type.
  TensorId adapter_tensor(TensorId of, TensorName name, Variant variant, DType dtype);
  void cast(TensorId from, TensorId to);
  void keep_as_frozen(const Parameter& weight, TensorId x, Operation& op) const;

  [[nodiscard]] bool scatters_updates(PackedGroup packed) const;

  // What the adapters of q, k and v read, where they share it.
  struct SharedInput {
    TensorId x = kNoTensor;
    TensorId made = kNoTensor;
  };

  const ModelConfig& config_;
  const Switches& switches_;
  BlockOperations& block_;
  std::int64_t tokens_;
  std::int64_t seq_;
  bool in_layer_;
  std::int32_t layer_ = kOfBlock;
  SharedInput shared_input_;
};

// The branches of a layer: from the branch's (normalised) input to what is added to the stream.
TensorId attention_branch(BlockBuilder& build, const Attention& attention, TensorId x);
TensorId feed_forward_branch(BlockBuilder& build, const FeedForward& feed_forward, TensorId x);
// A whole layer, from the stream to the stream.
TensorId layer_body(BlockBuilder& build, const LayerKind& kind, TensorId x);
// Looks `token_ids` up in the token table and brings the rows to the stream.
TensorId look_up_tokens(BlockBuilder& build, TensorId token_ids);
// The layers of multi-token prediction behind the model's last one, each with its loss. `x`: the
// hidden states under the final norm.
void prediction_operations(BlockBuilder& build, const LayerKind& kind, TensorId x,
                           TensorName head_weight);
// From the head's input (inside the branch) to the loss.
TensorId loss_operations(BlockBuilder& build, TensorId x, TensorName head_weight);

}  // namespace fourhold::model

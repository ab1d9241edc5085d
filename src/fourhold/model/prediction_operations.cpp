// Multi-token prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2), as Megatron-Core runs it
// (megatron/core/transformer/multi_token_prediction.py): behind the final norm, on the last stage.
#include "fourhold/model/block_builder.h"

namespace fourhold::model {
namespace {

constexpr BlockBuilder::NormNames kTokenNorm{
    TensorName::prediction_token_norm_weight,     TensorName::prediction_token_norm_bias,
    TensorName::prediction_token_norm_statistics, TensorName::prediction_token_norm_wide,
    TensorName::prediction_token_norm_normalised, TensorName::prediction_token_norm_out};
constexpr BlockBuilder::NormNames kHiddenNorm{
    TensorName::prediction_hidden_norm_weight,     TensorName::prediction_hidden_norm_bias,
    TensorName::prediction_hidden_norm_statistics, TensorName::prediction_hidden_norm_wide,
    TensorName::prediction_hidden_norm_normalised, TensorName::prediction_hidden_norm_out};
constexpr BlockBuilder::NormNames kPredictionFinalNorm{
    TensorName::prediction_final_norm_weight,     TensorName::prediction_final_norm_bias,
    TensorName::prediction_final_norm_statistics, TensorName::prediction_final_norm_wide,
    TensorName::prediction_final_norm_normalised, TensorName::prediction_final_norm_out};

TensorId join(BlockBuilder& build, TensorId tokens, TensorId hidden) {
  const std::int64_t width = checked_multiply(2, build.config().hidden);
  const TensorId joined = build.tensor({.name = TensorName::prediction_joined,
                                        .region = Region::stream,
                                        .dtype = build.switches().compute,
                                        .shape = {build.token_extent(), {Dim::other, width}}});
  Operation& op = build.operation(OpKind::concatenate);
  op.inputs = {tokens, hidden};
  op.outputs = {joined};
  return joined;
}

// The hidden states of one layer further on.
TensorId predict_further(BlockBuilder& build, const LayerKind& kind, TensorId embedded,
                         TensorId hidden) {
  const NormKind norm = build.config().norm;
  build.stand_in_layer(true);
  const TensorId tokens = build.norm(embedded, norm, kTokenNorm);
  const TensorId joined = join(build, tokens, build.norm(hidden, norm, kHiddenNorm));
  // tp splits the projection's outputs, which are then brought together; a sum of whole addends
  // holds and moves as much.
  TensorId x =
      build.output_linear(build.enter(joined),
                          {.weight = TensorName::prediction_projection,
                           .bias = TensorName::prediction_projection,
                           .out = TensorName::prediction_projected,
                           .shape = {build.token_extent(), {Dim::hidden, build.config().hidden}},
                           .dtype = build.switches().compute},
                          TensorName::prediction_projected);
  x = layer_body(build, kind, x);
  x = build.norm(x, norm, kPredictionFinalNorm);
  build.stand_in_layer(false);
  return x;
}

}  // namespace

void prediction_operations(BlockBuilder& build, const LayerKind& kind, TensorId x,
                           TensorName head_weight) {
  TensorId hidden = x;
  for (std::int64_t depth = 0; depth < build.switches().prediction_layers; ++depth) {
    build.belong_to(static_cast<std::int32_t>(build.config().layer_count() + depth));
    build.add_parameters(prediction_parameters(build.config(), kind));
    const TensorId token_ids = build.tensor({.name = TensorName::token_ids,
                                             .region = Region::inner,
                                             .dtype = build.switches().index,
                                             .shape = {build.token_extent()}});
    hidden = predict_further(build, kind, look_up_tokens(build, token_ids), hidden);
    loss_operations(build, build.enter(hidden), head_weight);
  }
  build.belong_to(kOfBlock);
}

}  // namespace fourhold::model

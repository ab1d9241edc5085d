// The three kinds of block: embedding, one layer, head with its loss.
#include "fourhold/model/operations.h"

#include <cassert>

#include "fourhold/model/block_builder.h"

namespace fourhold::model {
namespace {

constexpr BlockBuilder::NormNames kNorm1{TensorName::norm1_weight,     TensorName::norm1_bias,
                                         TensorName::norm1_statistics, TensorName::norm1_wide,
                                         TensorName::norm1_normalised, TensorName::norm1_out};
constexpr BlockBuilder::NormNames kNorm2{TensorName::norm2_weight,     TensorName::norm2_bias,
                                         TensorName::norm2_statistics, TensorName::norm2_wide,
                                         TensorName::norm2_normalised, TensorName::norm2_out};
constexpr BlockBuilder::NormNames kAttentionPostNorm{
    TensorName::attention_post_norm_weight,     TensorName::attention_post_norm_bias,
    TensorName::attention_post_norm_statistics, TensorName::attention_post_norm_wide,
    TensorName::attention_post_norm_normalised, TensorName::attention_post_norm_out};
constexpr BlockBuilder::NormNames kFeedForwardPostNorm{
    TensorName::feed_forward_post_norm_weight,     TensorName::feed_forward_post_norm_bias,
    TensorName::feed_forward_post_norm_statistics, TensorName::feed_forward_post_norm_wide,
    TensorName::feed_forward_post_norm_normalised, TensorName::feed_forward_post_norm_out};
constexpr BlockBuilder::NormNames kFinalNorm{
    TensorName::final_norm_weight,     TensorName::final_norm_bias,
    TensorName::final_norm_statistics, TensorName::final_norm_wide,
    TensorName::final_norm_normalised, TensorName::final_norm_out};
constexpr BlockBuilder::NormNames kEmbeddingNorm{
    TensorName::embedding_norm_weight,     TensorName::embedding_norm_bias,
    TensorName::embedding_norm_statistics, TensorName::embedding_norm_wide,
    TensorName::embedding_norm_normalised, TensorName::embedding_norm_out};

bool is_parallel(NormPlacement placement) {
  return placement == NormPlacement::parallel_one_norm ||
         placement == NormPlacement::parallel_two_norms;
}

bool norm_after_branch(NormPlacement placement) {
  return placement == NormPlacement::post_branch || placement == NormPlacement::sandwich;
}

// One residual step: stream + branch(norm(stream)), with the norms where the layer puts them.
template <class Branch>
TensorId residual_step(BlockBuilder& build, const LayerKind& kind, TensorId stream,
                       const BlockBuilder::NormNames& norm,
                       const BlockBuilder::NormNames& post_norm, TensorName mask,
                       TensorName dropped, TensorName sum, const Branch& branch) {
  const TensorId input =
      normalises_before(kind.placement) ? build.norm(stream, kind.norm, norm) : stream;
  TensorId out = branch(input);
  if (norm_after_branch(kind.placement)) out = build.norm(out, kind.norm, post_norm);
  out = build.dropout(out, build.config().dropout, mask, dropped);
  TensorId total = build.add(stream, out, sum);
  if (sum == TensorName::hidden_states_mid) build.mark_group(RecomputeGroup::alternate);
  if (kind.placement == NormPlacement::post_add) total = build.norm(total, kind.norm, post_norm);
  return total;
}

// Both branches read the same stream. The norms stand first, so that in backward both branches have
// read the incoming gradient before the norms add to it in place.
TensorId parallel_layer(BlockBuilder& build, const LayerKind& kind, TensorId stream) {
  const TensorId normed = build.norm(stream, kind.norm, kNorm1);
  const TensorId feed_forward_input = kind.placement == NormPlacement::parallel_two_norms
                                          ? build.norm(stream, kind.norm, kNorm2)
                                          : normed;
  TensorId attention = attention_branch(build, kind.attention, normed);
  const double drop = build.config().dropout;
  attention = build.dropout(attention, drop, TensorName::attention_residual_mask,
                            TensorName::attention_dropped);
  TensorId feed_forward = feed_forward_branch(build, kind.feed_forward, feed_forward_input);
  feed_forward = build.dropout(feed_forward, drop, TensorName::feed_forward_residual_mask,
                               TensorName::feed_forward_dropped);
  const TensorId branches = build.add(attention, feed_forward, TensorName::combined);
  return build.add(stream, branches, TensorName::hidden_states_out);
}

BlockOperations new_block(Block kind, std::int32_t layer_kind) {
  BlockOperations block;
  block.block = kind;
  block.layer_kind = layer_kind;
  return block;
}

}  // namespace

TensorId look_up_tokens(BlockBuilder& build, TensorId token_ids) {
  const TensorId partial = build.tensor(
      {.name = TensorName::embedded,
       .region = Region::inner,
       .dtype = build.switches().compute,
       .shape = {build.token_extent(), {Dim::hidden, build.config().embedding_width}}});
  Operation& lookup = build.operation(OpKind::embedding_lookup);
  lookup.inputs = {token_ids};
  lookup.outputs = {partial};
  lookup.parameters = {build.parameter(TensorName::token_embedding)};
  lookup.saved = {token_ids};
  build.mark_partial(partial);
  return build.leave(partial, TensorName::embedded);
}

TensorId layer_body(BlockBuilder& build, const LayerKind& kind, TensorId x) {
  const bool has_attention = kind.attention.kind != AttentionKind::none;
  const bool has_feed_forward = kind.feed_forward.kind != FeedForwardKind::none;
  if (is_parallel(kind.placement) && has_attention && has_feed_forward) {
    return parallel_layer(build, kind, x);
  }
  if (has_attention) {
    x = residual_step(
        build, kind, x, kNorm1, kAttentionPostNorm, TensorName::attention_residual_mask,
        TensorName::attention_dropped,
        has_feed_forward ? TensorName::hidden_states_mid : TensorName::hidden_states_out,
        [&](TensorId in) { return attention_branch(build, kind.attention, in); });
  }
  if (has_feed_forward) {
    x = residual_step(
        build, kind, x, kNorm2, kFeedForwardPostNorm, TensorName::feed_forward_residual_mask,
        TensorName::feed_forward_dropped, TensorName::hidden_states_out,
        [&](TensorId in) { return feed_forward_branch(build, kind.feed_forward, in); });
  }
  return x;
}

BlockOperations embedding_operations(const ModelConfig& config, const BatchSizes& sizes,
                                     const Switches& switches) {
  BlockOperations block = new_block(Block::embedding, -1);
  BlockBuilder build(config, sizes, switches, block);
  build.add_parameters(embedding_parameters(config));
  // Every tp rank looks all tokens up in its own rows of the table: ids stand inside the branch.
  block.input = build.tensor({.name = TensorName::token_ids,
                              .region = Region::inner,
                              .dtype = switches.index,
                              .shape = {build.token_extent()}});
  TensorId x = look_up_tokens(build, block.input);
  if (build.parameter(TensorName::embedding_projection) >= 0) {
    x = build.linear(x, {.weight = TensorName::embedding_projection,
                         .bias = TensorName::embedding_projection,
                         .out = TensorName::embedding_projected,
                         .shape = {build.token_extent(), {Dim::hidden, config.hidden}},
                         .dtype = switches.compute});
  }
  if (const std::int16_t table = build.parameter(TensorName::position_embedding); table >= 0) {
    const TensorId sum = build.alias(build.at(x).name, x);
    Operation& add = build.operation(OpKind::add_positions);
    add.inputs = {x};
    add.outputs = {sum};
    add.parameters = {table};
    x = sum;
  }
  if (config.embedding_norm) x = build.norm(x, config.norm, kEmbeddingNorm);
  block.output =
      build.dropout(x, config.embedding_dropout, TensorName::embedding_mask, build.at(x).name);
  return block;
}

BlockOperations layer_operations(const ModelConfig& config, std::int32_t layer_kind,
                                 const BatchSizes& sizes, const Switches& switches) {
  const LayerKind& kind = config.kinds[static_cast<std::size_t>(layer_kind)];
  BlockOperations block = new_block(Block::layer, layer_kind);
  BlockBuilder build(config, sizes, switches, block);
  build.add_parameters(layer_parameters(config, kind));
  block.input = build.stream_tensor(TensorName::hidden_states);
  block.output = layer_body(build, kind, block.input);
  return block;
}

BlockOperations head_operations(const ModelConfig& config, const BatchSizes& sizes,
                                const Switches& switches) {
  BlockOperations block = new_block(Block::head, -1);
  BlockBuilder build(config, sizes, switches, block);
  build.add_parameters(head_parameters(config));
  // Layers of multi-token prediction look tokens up in the embedding's table.
  if (config.tied || switches.prediction_layers > 0) {
    for (const Parameter& parameter : embedding_parameters(config)) {
      if (parameter.name != TensorName::token_embedding) continue;
      const bool trained =
          switches.adapters == Adapters::none || trains_head(switches.trained_modules);
      block.parameters.push_back({parameter, Variant::plain, trained, true});
    }
  }
  const TensorName head_weight =
      config.tied ? TensorName::token_embedding : TensorName::head_weight;
  block.input = build.stream_tensor(TensorName::hidden_states);
  TensorId x = block.input;
  if (config.final_norm) x = build.norm(x, config.norm, kFinalNorm);
  if (switches.prediction_layers > 0) {
    const auto last = static_cast<std::size_t>(config.layers.back());
    prediction_operations(build, config.kinds[last], x, head_weight);
  }
  if (build.parameter(TensorName::head_projection) >= 0) {
    x = build.linear(x, {.weight = TensorName::head_projection,
                         .bias = TensorName::head_projection,
                         .out = TensorName::head_projected,
                         .shape = {build.token_extent(), {Dim::hidden, config.embedding_width}},
                         .dtype = switches.compute});
  }
  x = build.enter(x, build.switches().gathered_inputs);
  block.output = loss_operations(build, x, head_weight);
  return block;
}

}  // namespace fourhold::model

// The attention branch: multi-head, grouped-query, multi-query, latent, or one matrix in its place.
#include <array>

#include "fourhold/model/block_builder.h"

namespace fourhold::model {
namespace {

struct QueryKeyValue {
  TensorId q, k, v;
  InlineVector<TensorId, 2> beside{};  // what stays because it is of one tensor with v or q
};

enum class Rotation : std::uint8_t { in_place, out_of_place };

TensorId rotate(BlockBuilder& build, TensorId x, TensorName out,
                Rotation rotation = Rotation::in_place) {
  if (build.config().position != PositionKind::rotary) return x;
  const bool in_place = rotation == Rotation::in_place;
  const TensorId rotated = in_place ? build.alias(out, x) : build.tensor(build.new_like(x, out));
  Operation& op = build.operation(OpKind::rotary);
  op.inputs = {x};
  op.outputs = {rotated};
  return rotated;
}

TensorId normalise_heads(BlockBuilder& build, const Attention& attention, TensorId x,
                         const BlockBuilder::NormNames& names) {
  if (attention.qk_norm == QkNorm::none) return x;
  // Per head: one statistic for each token and head; over the full width: one for each token.
  return build.norm(x, NormKind::rms_norm, names, attention.qk_norm == QkNorm::full_width ? 1 : 2);
}

TensorId copied(BlockBuilder& build, TensorId x, TensorName out) {
  const TensorId copy = build.tensor(build.new_like(x, out));
  Operation& op = build.operation(OpKind::cast);
  op.inputs = {x};
  op.outputs = {copy};
  return copy;
}

// Rotates q and k, in the one tensor that the product made or in tensors of their own;
// `projected` are q and k as the product made them.
QueryKeyValue rotate_parts(BlockBuilder& build, const Attention& attention, QueryKeyValue parts,
                           const std::array<TensorId, 2>& projected) {
  const FusedQkv fused = build.switches().fused_qkv;
  const bool views = fused == FusedQkv::views;
  const bool copies = fused == FusedQkv::query && attention.heads == attention.kv_heads;
  QueryKeyValue made = parts;
  if (copies) {
    made.k = copied(build, parts.k, TensorName::k_copied);
    made.v = copied(build, parts.v, TensorName::v_copied);
    made.beside = {parts.k, parts.v};
  }
  const Rotation rotation = views ? Rotation::out_of_place : Rotation::in_place;
  made.q = rotate(build, parts.q, TensorName::q_rotated, rotation);
  made.k = rotate(build, made.k, TensorName::k_rotated, rotation);
  if (views && made.q != parts.q) made.beside = {projected[0], projected[1]};
  return made;
}

QueryKeyValue project(BlockBuilder& build, const Attention& attention, TensorId inner) {
  const std::size_t first = build.operation_count();
  const DType dtype = build.switches().compute;
  const Shape q_shape{
      build.token_extent(), {Dim::heads, attention.heads}, {Dim::head_dim, attention.head_dim}};
  const Shape k_shape{build.token_extent(),
                      {Dim::kv_heads, attention.kv_heads},
                      {Dim::head_dim, attention.head_dim}};
  const auto column = [&](TensorName weight, TensorName bias, TensorName out, const Shape& shape,
                          RecomputeGroup recompute = RecomputeGroup::none) {
    return build.linear(inner, {.weight = weight,
                                .bias = bias,
                                .out = out,
                                .shape = shape,
                                .region = Region::inner,
                                .packed = PackedGroup::qkv,
                                .recompute = recompute,
                                .dtype = dtype});
  };
  TensorId q = column(TensorName::q_weight, TensorName::q_bias, TensorName::q, q_shape);
  TensorId k = column(TensorName::k_weight, TensorName::k_bias, TensorName::k, k_shape,
                      RecomputeGroup::alternate);
  const TensorId projected_q = q;
  const TensorId projected_k = k;
  const TensorId v = column(TensorName::v_weight, TensorName::v_bias, TensorName::v, k_shape);
  q = normalise_heads(
      build, attention, q,
      {TensorName::q_norm_weight, TensorName::q_norm_weight, TensorName::q_norm_statistics,
       TensorName::q_norm_wide, TensorName::q_norm_normalised, TensorName::q_normed});
  k = normalise_heads(
      build, attention, k,
      {TensorName::k_norm_weight, TensorName::k_norm_weight, TensorName::k_norm_statistics,
       TensorName::k_norm_wide, TensorName::k_norm_normalised, TensorName::k_normed});
  const QueryKeyValue made = rotate_parts(build, attention, {q, k, v}, {projected_q, projected_k});
  build.mark_branch(first, RecomputeGroup::qkv);
  return made;
}

// Latent attention (DeepSeek-V2, arXiv 2405.04434, sec. 2.1). The low-rank halves run on the
// stream, so that sequence parallelism splits them; the up-projections are split by heads.
QueryKeyValue project_latent(BlockBuilder& build, const Attention& attention, TensorId x) {
  const DType dtype = build.switches().compute;
  const Extent tokens = build.token_extent();
  const Shape q_shape{tokens, {Dim::heads, attention.heads}, {Dim::head_dim, attention.head_dim}};
  const auto inner_linear = [&](TensorId in, TensorName weight, TensorName out,
                                const Shape& shape) {
    return build.linear(in, {.weight = weight,
                             .bias = weight,
                             .out = out,
                             .shape = shape,
                             .region = Region::inner,
                             .dtype = dtype});
  };
  TensorId q = kNoTensor;
  if (attention.q_lora_rank > 0) {
    const TensorId latent =
        build.linear(x, {.weight = TensorName::q_down_weight,
                         .bias = TensorName::q_down_weight,
                         .out = TensorName::q_latent,
                         .shape = {tokens, {Dim::latent, attention.q_lora_rank}},
                         .dtype = dtype});
    const TensorId normed =
        build.norm(latent, NormKind::rms_norm,
                   {TensorName::q_latent_norm_weight, TensorName::q_latent_norm_weight,
                    TensorName::q_latent_statistics, TensorName::q_latent_wide,
                    TensorName::q_latent_normalised, TensorName::q_latent_normed});
    q = inner_linear(build.enter(normed), TensorName::q_up_weight, TensorName::q, q_shape);
  } else {
    q = inner_linear(build.enter(x), TensorName::q_weight, TensorName::q, q_shape);
  }
  q = rotate(build, q, TensorName::q_rotated);

  const std::int64_t kv_rank = attention.kv_lora_rank;
  const std::int64_t rope = attention.rope_head_dim;
  const TensorId latent = build.linear(x, {.weight = TensorName::kv_down_weight,
                                           .bias = TensorName::kv_down_weight,
                                           .out = TensorName::kv_latent,
                                           .shape = {tokens, {Dim::latent, kv_rank + rope}},
                                           .dtype = dtype});
  TensorId compressed = build.tensor({.name = TensorName::kv_compressed,
                                      .dtype = dtype,
                                      .alias_of = latent,
                                      .shape = {tokens, {Dim::latent, kv_rank}}});
  TensorId k_rotary = build.tensor({.name = TensorName::k_rotary,
                                    .dtype = dtype,
                                    .alias_of = latent,
                                    .shape = {tokens, {Dim::head_dim, rope}}});
  Operation& split = build.operation(OpKind::split_latent);
  split.inputs = {latent};
  split.outputs = {compressed, k_rotary};
  compressed = build.norm(compressed, NormKind::rms_norm,
                          {TensorName::kv_latent_norm_weight, TensorName::kv_latent_norm_weight,
                           TensorName::kv_latent_statistics, TensorName::kv_latent_wide,
                           TensorName::kv_latent_normalised, TensorName::kv_latent_normed});
  const std::int64_t nope = attention.head_dim - rope;
  const TensorId k_and_v = inner_linear(
      build.enter(compressed), TensorName::kv_up_weight, TensorName::k_and_v,
      {tokens, {Dim::heads, attention.heads}, {Dim::other, nope + attention.value_head_dim}});
  k_rotary = rotate(build, build.enter(k_rotary), TensorName::k_rotated);
  const TensorId k = build.tensor(
      {.name = TensorName::k, .region = Region::inner, .dtype = dtype, .shape = q_shape});
  const TensorId v = build.tensor(
      {.name = TensorName::v,
       .region = Region::inner,
       .dtype = dtype,
       .shape = {
           tokens, {Dim::heads, attention.heads}, {Dim::head_dim, attention.value_head_dim}}});
  Operation& assemble = build.operation(OpKind::latent_assemble);
  assemble.inputs = {k_and_v, k_rotary};
  assemble.outputs = {k, v};
  return {q, k, v, {}};
}

// Fused attention keeps q, k, v, its output and one log-sum-exp per query and head
// (Dao 2023, arXiv 2307.08691, sec. 3); its backward needs one fp32 row sum beside it.
TensorId fused_core(BlockBuilder& build, const Attention& attention, const QueryKeyValue& qkv,
                    const Shape& out_shape) {
  const Shape rows{build.token_extent(), {Dim::heads, attention.heads}};
  const TensorId out = build.tensor({.name = TensorName::attention_out,
                                     .region = Region::inner,
                                     .dtype = build.switches().compute,
                                     .shape = out_shape});
  const TensorId log_sum_exp = build.tensor({.name = TensorName::log_sum_exp,
                                             .region = Region::inner,
                                             .dtype = DType::fp32,
                                             .shape = rows});
  const std::int16_t sinks = build.parameter(TensorName::sinks);
  Operation& op = build.operation(OpKind::attention);
  op.recompute = RecomputeGroup::attention;
  op.window = attention.window;
  op.inputs = {qkv.q, qkv.k, qkv.v};
  op.outputs = {out, log_sum_exp};
  if (sinks >= 0) op.parameters = {sinks};
  op.saved = {qkv.q, qkv.k, qkv.v, out, log_sum_exp};
  for (const TensorId held : qkv.beside) op.saved.push_back(held);
  op.backward_transients = {{TensorName::attention_row_sums, rows, DType::fp32, Region::inner}};
  if (build.switches().attention == AttentionSaving::flash) return out;
  const TensorId merged = build.tensor(build.new_like(out, TensorName::attention_merged));
  Operation& copy = build.operation(OpKind::cast);
  copy.inputs = {out};
  copy.outputs = {merged};
  return merged;
}

// Scores, softmax, dropout and the weighted sum as tensors of their own (Korthikanti 2022,
// arXiv 2205.05198, sec. 4.1: 5 a s bytes per token with dropout).
TensorId unfused_core(BlockBuilder& build, const Attention& attention, const QueryKeyValue& qkv,
                      const Shape& out_shape) {
  const Switches& switches = build.switches();
  const bool wide = switches.attention == AttentionSaving::unfused_wide;
  const Shape score_shape{
      build.token_extent(), {Dim::heads, attention.heads}, {Dim::keys, build.seq()}};
  const auto score_tensor = [&](TensorName name, DType dtype) {
    return build.tensor(
        {.name = name, .region = Region::inner, .dtype = dtype, .shape = score_shape});
  };
  const std::int16_t sinks = build.parameter(TensorName::sinks);
  const TensorId scores = score_tensor(TensorName::scores, switches.compute);
  Operation& product = build.operation(OpKind::attention_scores);
  product.recompute = RecomputeGroup::attention;
  product.window = attention.window;
  product.inputs = {qkv.q, qkv.k};
  product.outputs = {scores};
  product.saved = {qkv.q, qkv.k};

  TensorId weights = score_tensor(TensorName::probabilities, wide ? DType::fp32 : switches.compute);
  Operation& softmax = build.operation(OpKind::softmax);
  softmax.recompute = RecomputeGroup::attention;
  softmax.window = attention.window;
  softmax.inputs = {scores};
  softmax.outputs = {weights};
  if (sinks >= 0) softmax.parameters = {sinks};
  softmax.saved = {weights};
  if (wide && switches.compute != DType::fp32) {
    const TensorId narrow = score_tensor(TensorName::probabilities_cast, switches.compute);
    Operation& cast = build.operation(OpKind::cast);
    cast.recompute = RecomputeGroup::attention;
    cast.inputs = {weights};
    cast.outputs = {narrow};
    weights = narrow;
  }
  if (switches.dropout == DropoutMasks::from_config && build.config().attention_dropout > 0) {
    const TensorId mask = score_tensor(TensorName::attention_mask, DType::boolean);
    const TensorId dropped = score_tensor(TensorName::probabilities_dropped, switches.compute);
    Operation& drop = build.operation(OpKind::dropout);
    drop.recompute = RecomputeGroup::attention;
    drop.inputs = {weights};
    drop.outputs = {dropped, mask};
    drop.saved = {mask};
    weights = dropped;
  }
  const TensorId out = build.tensor({.name = TensorName::attention_out,
                                     .region = Region::inner,
                                     .dtype = switches.compute,
                                     .shape = out_shape});
  Operation& sum = build.operation(OpKind::attention_values);
  sum.recompute = RecomputeGroup::attention;
  sum.window = attention.window;
  sum.inputs = {weights, qkv.v};
  sum.outputs = {out};
  sum.saved = {weights, qkv.v};
  for (const TensorId held : qkv.beside) sum.saved.push_back(held);
  return out;
}

}  // namespace

TensorId attention_branch(BlockBuilder& build, const Attention& attention, TensorId x) {
  const DType dtype = build.switches().compute;
  const Shape stream_shape{build.token_extent(), {Dim::hidden, build.config().hidden}};
  if (attention.kind == AttentionKind::linear) {
    return build.linear(x, {.weight = TensorName::attention_linear_weight,
                            .bias = TensorName::attention_linear_weight,
                            .out = TensorName::o_out,
                            .shape = stream_shape,
                            .dtype = dtype});
  }
  const QueryKeyValue qkv =
      attention.kind == AttentionKind::latent
          ? project_latent(build, attention, x)
          : project(build, attention, build.enter(x, build.switches().gathered_inputs));
  const Shape out_shape{build.token_extent(),
                        {Dim::heads, attention.heads},
                        {Dim::head_dim, attention.value_head_dim}};
  const TensorId out = is_fused(build.switches().attention)
                           ? fused_core(build, attention, qkv, out_shape)
                           : unfused_core(build, attention, qkv, out_shape);
  return build.output_linear(out,
                             {.weight = TensorName::o_weight,
                              .bias = TensorName::o_bias,
                              .out = TensorName::o_out,
                              .shape = stream_shape,
                              .recompute = RecomputeGroup::alternate,
                              .dtype = dtype},
                             TensorName::o_out);
}

}  // namespace fourhold::model

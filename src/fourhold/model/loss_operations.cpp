// From the head's input to the loss: whole logits, kept in one of the ways frameworks keep them, or
// chunks of tokens of which only one is alive.
#include <algorithm>

#include "fourhold/model/block_builder.h"

namespace fourhold::model {
namespace {

TensorId add_targets(BlockBuilder& build) {
  return build.tensor({.name = TensorName::targets,
                       .region = Region::inner,
                       .dtype = build.switches().index,
                       .shape = {build.token_extent()}});
}

TensorId add_loss(BlockBuilder& build) {
  return build.tensor(
      {.name = TensorName::loss, .region = Region::inner, .dtype = DType::fp32, .shape = {}});
}

// One operation for head and loss: a chunk's logits exist for the moment its loss and gradients are
// made, in the forward pass; backward only passes the input's gradient on.
TensorId chunked_loss(BlockBuilder& build, TensorId x, std::int16_t weight, std::int16_t bias) {
  const Switches& switches = build.switches();
  const Extent chunk{Dim::other, std::min(switches.loss_chunk, build.tokens())};
  const Extent vocab{Dim::vocab, build.config().vocab};
  Tensor gradient = build.at(x);
  gradient.name = TensorName::head_input_gradient;
  gradient.alias_of = kNoTensor;
  const TensorId targets = add_targets(build);
  const TensorId loss = add_loss(build);
  const TensorId input_gradient = build.tensor(gradient);
  Operation& op = build.operation(OpKind::chunked_loss);
  op.inputs = {x, targets};
  op.outputs = {loss, input_gradient};
  op.parameters = {weight};
  if (bias >= 0) op.parameters.push_back(bias);
  op.saved = {input_gradient};
  op.forward_transients = {{TensorName::logits, {chunk, vocab}, switches.compute, Region::inner}};
  // A loss that works in place does so on the 16-bit logits of a chunk too.
  if (switches.compute != DType::fp32 && switches.loss != LossSaving::in_place) {
    op.forward_transients.push_back(
        {TensorName::logits_wide, {chunk, vocab}, DType::fp32, Region::inner});
  }
  return loss;
}

}  // namespace

TensorId loss_operations(BlockBuilder& build, TensorId x, TensorName head_weight) {
  const Switches& switches = build.switches();
  const std::int16_t weight = build.parameter(head_weight);
  const std::int16_t bias = build.parameter(TensorName::head_bias);
  if (switches.loss_chunk > 0) return chunked_loss(build, x, weight, bias);

  Shape shape{build.token_extent(), {Dim::vocab, build.config().vocab}};
  const auto logits_tensor = [&](TensorName name, DType dtype, TensorId alias_of) {
    return build.tensor({.name = name,
                         .region = Region::inner,
                         .dtype = dtype,
                         .alias_of = alias_of,
                         .shape = shape});
  };
  TensorId logits = build.linear(x, {.weight = head_weight,
                                     .bias = TensorName::head_bias,
                                     .out = TensorName::logits,
                                     .shape = shape,
                                     .region = Region::inner,
                                     .dtype = switches.compute});
  const bool gathered = switches.loss == LossSaving::eager_gathered;
  if (gathered) {
    shape[1].dim = Dim::other;  // whole on every rank, as all that follows
    const TensorId whole = logits_tensor(TensorName::logits_gathered, switches.compute, kNoTensor);
    Operation& gather = build.operation(OpKind::cast);
    gather.inputs = {logits};
    gather.outputs = {whole};
    logits = whole;
  }
  const TensorId narrow = logits;
  TensorId capped = kNoTensor;
  if (build.config().logit_softcap > 0) {
    capped = logits_tensor(TensorName::logits_capped, switches.compute, kNoTensor);
    Operation& cap = build.operation(OpKind::softcap);
    cap.inputs = {logits};
    cap.outputs = {capped};
    cap.saved = {capped};
    logits = capped;
  }
  const bool compiled = switches.loss == LossSaving::compiled;
  if (!compiled && switches.loss != LossSaving::in_place && switches.compute != DType::fp32) {
    const TensorId wide = logits_tensor(TensorName::logits_wide, DType::fp32, kNoTensor);
    Operation& cast = build.operation(OpKind::cast);
    cast.inputs = {logits};
    cast.outputs = {wide};
    logits = wide;
  }
  const bool in_place =
      switches.loss == LossSaving::in_place || switches.loss == LossSaving::vocab_parallel;
  // The softcap's backward reads its result: the loss must not overwrite that one.
  const bool overwrites = in_place && logits != capped;
  const TensorId targets = add_targets(build);
  const TensorId loss = add_loss(build);
  // Compiled, a row's log-softmax is made again from its sum of exponentials.
  const TensorId log_softmax = compiled
                                   ? build.tensor({.name = TensorName::log_softmax,
                                                   .region = Region::inner,
                                                   .dtype = DType::fp32,
                                                   .shape = {build.token_extent()}})
                                   : logits_tensor(TensorName::log_softmax, build.at(logits).dtype,
                                                   overwrites ? logits : kNoTensor);
  Operation& op = build.operation(OpKind::cross_entropy);
  op.inputs = {logits, targets};
  op.outputs = {loss, log_softmax};
  op.saved = {log_softmax, targets};
  if (compiled) {
    op.saved.push_back(logits);
    op.backward_transients = {{TensorName::logits_wide, shape, DType::fp32, Region::inner}};
  }
  const bool held_chunks = switches.loss == LossSaving::held_chunks;
  if (in_place || held_chunks) op.gradient_in_place_of = log_softmax;
  if (held_chunks) {
    // Chunk by chunk the log-softmax gives way to the gradient: a dense one of its own and the
    // logits' exist beside it for one chunk.
    if (logits != log_softmax) op.saved.push_back(logits);
    const Extent chunk{Dim::tokens,
                       std::min(kHeldChunk, build.seq()) * (build.tokens() / build.seq())};
    const Transient of_chunk{
        TensorName::log_softmax, {chunk, shape[1]}, DType::fp32, Region::inner};
    op.backward_transients = {of_chunk, of_chunk};
  }
  const bool held = switches.loss == LossSaving::eager_held || gathered;
  if (switches.loss == LossSaving::eager || held) {
    op.backward_transients = {{TensorName::log_softmax, shape, DType::fp32, Region::inner}};
  }
  if (switches.loss == LossSaving::eager_parallel) {
    // Zeros with one entry per row, and their sum with exp of the log-softmax.
    const Transient wide{TensorName::log_softmax, shape, DType::fp32, Region::inner};
    op.backward_transients = {wide, wide};
  }
  if (held && narrow != logits) op.saved.push_back(narrow);
  if (gathered) {
    const Transient before{TensorName::logits_gathered, shape, switches.compute, Region::inner};
    op.forward_transients.push_back(before);
    op.backward_transients.push_back(before);
  }
  return loss;
}

}  // namespace fourhold::model

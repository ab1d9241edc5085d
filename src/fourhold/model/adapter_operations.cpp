// A low-rank adapter beside a frozen matrix: W x + B (A x), with what frameworks put around it.
#include "fourhold/model/block_builder.h"

namespace fourhold::model {

// A frozen weight needs no input in backward; one stored in another format is widened into a whole
// matrix for each product (bitsandbytes: dequantize_4bit before F.linear, and again in backward).
void BlockBuilder::keep_as_frozen(const Parameter& weight, TensorId x, Operation& op) const {
  if (switches_.adapters == Adapters::none || !is_layer_matrix(weight)) return;
  if (switches_.frozen_cast != FrozenCast::none) {
    Transient widened{weight.name, {}, switches_.compute, Region::inner};
    for (const Extent& extent : weight.shape) {
      if (extent.dim != Dim::experts) widened.shape.push_back(extent);  // one expert at a time
    }
    op.backward_transients = {widened};
    if (switches_.frozen_cast == FrozenCast::both) op.forward_transients = {widened};
  }
  if (switches_.quantised_base && switches_.quantised_input == QuantisedInput::kept) op.saved = {x};
}

TensorId BlockBuilder::adapter_tensor(TensorId of, TensorName name, Variant variant, DType dtype) {
  Tensor made = new_like(of, name);
  made.variant = variant;
  made.dtype = dtype;
  return tensor(made);
}

void BlockBuilder::cast(TensorId from, TensorId to) {
  Operation& op = operation(OpKind::cast);
  op.inputs = {from};
  op.outputs = {to};
}

bool BlockBuilder::scatters_updates(PackedGroup packed) const {
  return switches_.packed_adapters == PackedAdapters::scattered && packed == PackedGroup::qkv;
}

TensorId BlockBuilder::adapter_input(TensorId x, const LinearSpec& spec) {
  const bool shares = scatters_updates(spec.packed);
  if (shares && shared_input_.x == x) return shared_input_.made;
  TensorId made = x;
  if (switches_.adapter_input != AdapterInput::shared) {
    const bool wide = switches_.adapter_input == AdapterInput::wide;
    made = adapter_tensor(x, spec.out, Variant::lora_input, wide ? DType::fp32 : at(x).dtype);
    cast(x, made);
  }
  if (switches_.lora_dropout) {
    const TensorId mask = adapter_tensor(made, spec.out, Variant::lora_mask, DType::boolean);
    const TensorId dropped = adapter_tensor(made, spec.out, Variant::lora_dropped, at(made).dtype);
    Operation& op = operation(OpKind::dropout);
    op.inputs = {made};
    op.outputs = {dropped, mask};
    op.saved = {mask};
    made = dropped;
  }
  if (shares) shared_input_ = {x, made};
  return made;
}

TensorId BlockBuilder::adapter(TensorId x, TensorId base, const LinearSpec& spec) {
  // Split as the matrix beside it: lora_b by its outputs, lora_a by its inputs. The middle of rank
  // r is then a partial sum where the inputs are split, and B of a partial sum is a partial sum
  // too.
  const TensorId input = adapter_input(x, spec);
  const bool wide = switches_.adapter_input == AdapterInput::wide && spec.dtype != DType::fp32;
  const DType dtype = wide ? DType::fp32 : spec.dtype;
  const TensorId middle = tensor({.name = spec.out,
                                  .variant = Variant::lora_a,
                                  .region = at(x).region,
                                  .dtype = dtype,
                                  .shape = {at(x).shape[0], {Dim::other, switches_.lora_rank}}});
  const TensorId made =
      adapter_tensor(base, at(base).name, wide ? Variant::lora_wide : Variant::lora_b, dtype);
  Operation& down = operation(OpKind::linear);
  down.inputs = {input};
  down.outputs = {middle};
  down.parameters = {parameter(spec.weight, Variant::lora_a)};
  down.saved = {input};
  Operation& up = operation(OpKind::linear);
  up.inputs = {middle};
  up.outputs = {made};
  up.parameters = {parameter(spec.weight, Variant::lora_b)};
  up.saved = {middle};
  const AdapterTargets& targets = switches_.lora_targets;
  const bool in_every_row = targets.contains(AdapterTarget::q) &&
                            targets.contains(AdapterTarget::k) &&
                            targets.contains(AdapterTarget::v);
  // Held by the copy that puts it in its rows.
  if (scatters_updates(spec.packed) && !in_every_row) up.saved.push_back(made);
  TensorId update = made;
  if (wide) {
    update = adapter_tensor(base, at(base).name, Variant::lora_b, spec.dtype);
    cast(made, update);
  }
  Tensor total = at(base);
  total.variant = Variant::sum;
  total.alias_of = base;  // the update is added in place
  const TensorId sum = tensor(total);
  Operation& join = operation(OpKind::add);
  join.inputs = {base, update};
  join.outputs = {sum};
  return sum;
}

}  // namespace fourhold::model

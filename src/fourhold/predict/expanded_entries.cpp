#include "fourhold/predict/expanded_entries.h"

#include "fourhold/predict/entry_names.h"

namespace fourhold::predict {

using ledger::Entry;
using ledger::Role;
using plan::StepInstance;

std::int64_t most_entries(const plan::ProgramBlocks& blocks, const StageLedgerInput& input,
                          std::int64_t micro_batches) {
  auto count = static_cast<std::int64_t>(input.tensors.size());
  for (std::size_t i = 0; i < input.instances.size(); ++i) {
    std::int64_t of_state = 0;
    for (const ParameterState& parameter : (*input.walk.states)[i].parameters) {
      of_state += static_cast<std::int64_t>(parameter.resident.size()) + 1;
    }
    std::int64_t of_batch = 0;
    for (const StorageLife& life : (*input.walk.lifetimes)[i].storages) {
      const bool kept = blocks.blocks[i].tensors[static_cast<std::size_t>(life.tensor)].kept;
      const bool twice = !kept && life.forward.first <= life.forward.last &&
                         life.backward.first <= life.backward.last;
      of_batch += twice ? 2 : 1;
    }
    count += input.instances[i] * (of_state + micro_batches * of_batch);
  }
  return count;
}

void ExpandedEntries::use_throughout(std::int32_t entry) {
  at(entry).first_step = 0;
  at(entry).last_step = now_ - 1;
}

std::int32_t ExpandedEntries::add(std::string_view block, std::string_view name,
                                  std::string_view variant, Role role) {
  Entry& entry = list_.emplace_back();
  entry.key.block = block;
  entry.key.name = name;
  entry.key.variant = variant;
  entry.key.role = role;
  entry.first_step = now_;
  entry.last_step = now_;
  return static_cast<std::int32_t>(list_.size() - 1);
}

std::int32_t ExpandedEntries::add_tensor(const StepInstance& where, std::int16_t owner) {
  const plan::ProgramTensor& tensor = block(where).tensors[static_cast<std::size_t>(owner)];
  const std::int32_t index = add(to_string(block(where).sharded.operations.block),
                                 to_string(tensor.name), variant_text(tensor.variant), tensor.role);
  Entry& entry = at(index);
  entry.key.layer = layer_in_key(tensor.layer, where.layer);
  entry.key.micro_batch = where.micro_batch;
  entry.shape = dims_of(tensor.shape);
  entry.dtype = tensor.dtype;
  entry.bytes = Bytes(bytes_of(tensor.shape.elements(), tensor.dtype));
  entry.category = tensor.category;
  return index;
}

void ExpandedEntries::rename(std::int32_t entry, const StepInstance& where, std::int16_t owner) {
  const plan::ProgramTensor& tensor = block(where).tensors[static_cast<std::size_t>(owner)];
  Entry& renamed = at(entry);
  renamed.key.block = to_string(block(where).sharded.operations.block);
  renamed.key.layer = layer_in_key(tensor.layer, where.layer);
  renamed.key.name = to_string(tensor.name);
  renamed.key.variant = variant_text(tensor.variant);
  renamed.category = tensor.category;
}

std::int32_t ExpandedEntries::add_parameter(const StepInstance& where, std::size_t parameter,
                                            Role role) {
  const plan::LocalParameter& local = block(where).sharded.parameters[parameter];
  const std::int32_t index =
      add(to_string(block(where).sharded.operations.block), to_string(local.use.parameter.name),
          variant_text(local.use.variant), role);
  Entry& entry = at(index);
  entry.key.layer = layer_in_key(local.use.layer, where.layer);
  entry.key.micro_batch = where.micro_batch;
  entry.shape = dims_of(local.shape);
  return index;
}

std::int32_t ExpandedEntries::add_resident(const StepInstance& where, std::size_t parameter,
                                           const ResidentTensor& tensor) {
  const std::int32_t index = add_parameter(where, parameter, tensor.role);
  Entry& entry = at(index);
  const plan::LocalParameter& local = block(where).sharded.parameters[parameter];
  if (tensor.elements != local.elements()) entry.shape = Dims{tensor.elements};
  entry.dtype = tensor.dtype;
  entry.bytes = Bytes(tensor.bytes());
  entry.category = tensor.category;
  entry.place = tensor.place;
  entry.key.micro_batch = ledger::Key::kNone;
  return index;
}

std::int32_t ExpandedEntries::add_stage_tensor(const StageTensor& tensor, std::int64_t copy) {
  const std::int32_t index = add("step", tensor.name, "", tensor.role);
  Entry& entry = at(index);
  if (tensor.copies > 1) entry.key.layer = static_cast<std::int32_t>(copy);
  entry.shape = Dims{tensor.elements};
  entry.dtype = tensor.dtype;
  entry.bytes = Bytes(bytes_of(tensor.elements, tensor.dtype));
  entry.category = tensor.category;
  entry.place = tensor.place;
  return index;
}

}  // namespace fourhold::predict

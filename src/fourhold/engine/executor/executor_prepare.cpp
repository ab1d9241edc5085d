#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "fourhold/engine/executor/executor.h"
#include "fourhold/predict/entry_names.h"

namespace fourhold::engine {
namespace {

using plan::Work;

// Position of `value` in a list of operands, -1 if it is none of them.
template <class List, class Value>
int index_of(const List& list, const Value& value) {
  const auto* const found = std::find(list.begin(), list.end(), value);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

[[noreturn]] void wrong_prediction(const TensorSlot& slot, const std::string& fault) {
  throw std::logic_error("the ledger has no place for " + ledger::to_string(slot.key) + ": " +
                         fault);
}

// Rows are tokens; everything behind them is the width.
std::int64_t width_of(const Tensor& x) { return x.elements() / x.dims[0]; }

}  // namespace

void Executor::prepare() {
  bind_slots();
  list_parameters();
  std::vector<bool> begun(walked_.slots.size(), false);
  for (const WalkedStep& walked : walked_.steps) {
    PreparedStep step;
    step.at = walked.at;
    prepare_step(walked, step);
    for (const auto& [slot, operand] : step.operands) {
      if (begun[static_cast<std::size_t>(slot)]) continue;
      begun[static_cast<std::size_t>(slot)] = true;
      if (!walked_.slots[static_cast<std::size_t>(slot)].is_state()) step.born.push_back(slot);
    }
    steps_.push_back(std::move(step));
  }
}

void Executor::bind_slots() {
  for (const TensorSlot& slot : walked_.slots) {
    const auto entry = arena_.find(slot.key, slot.is_state() ? 0 : slot.first_step);
    if (!entry) wrong_prediction(slot, "no entry of that name is alive when it is first used");
    const std::span<std::byte> bytes = arena_.bytes_of(*entry);
    const Tensor tensor{bytes.data(), slot.dtype, slot.dims};
    if (tensor.bytes() != static_cast<std::int64_t>(bytes.size())) {
      wrong_prediction(slot, "the operand has " + std::to_string(tensor.bytes()) +
                                 " bytes, the entry " + std::to_string(bytes.size()));
    }
    entries_.push_back(*entry);
    slot_tensors_.push_back(tensor);
  }
}

void Executor::list_parameters() {
  for (const TrainedParameter& trained : walked_.parameters) {
    const ParameterSlots& slots = trained.slots;
    const plan::LocalParameter& local =
        blocks_.blocks[static_cast<std::size_t>(trained.block)]
            .sharded.parameters[static_cast<std::size_t>(trained.parameter)];
    // A tied head is the embedding's table.
    const model::Block block =
        local.use.of_embedding
            ? model::Block::embedding
            : blocks_.blocks[static_cast<std::size_t>(trained.block)].sharded.operations.block;
    const model::ParameterId id{block, trained.layer, local.use.parameter.name};
    parameters_.push_back({id, to_string(id), local.use.parameter.role, tensor_of(slots.weight),
                           tensor_of(slots.master), tensor_of(slots.moment1),
                           tensor_of(slots.moment2), tensor_of(slots.gradient)});
  }
}

void Executor::prepare_step(const WalkedStep& walked, PreparedStep& step) {
  const auto uses = [&](SlotId slot) {
    if (slot != kNoSlot) step.operands.emplace_back(slot, tensor_of(slot));
  };
  switch (walked.at.work) {
    case Work::compute:
      prepare_compute(walked, step);
      break;
    case Work::load_ids:
    case Work::load_targets:
      for (const SlotId slot : walked.inputs) uses(slot);
      step.written = step.operands;
      break;
    case Work::count_tokens:
    case Work::reduce_loss:
      uses(walked_.scalars[kTokenCount]);
      uses(walked_.scalars[kLossSum]);
      break;
    case Work::gradient_norm:
    case Work::clip:
      uses(walked_.scalars[kGradientNorm]);
      break;
    case Work::optimize:
      for (std::size_t i = 0; i < walked_.parameters.size(); ++i) {
        const TrainedParameter& own = walked_.parameters[i];
        if (own.block != walked.at.block || own.layer != walked.at.layer) continue;
        step.parameters.push_back(i);
        for (const SlotId slot : {own.slots.weight, own.slots.master, own.slots.moment1,
                                  own.slots.moment2, own.slots.gradient}) {
          uses(slot);
        }
      }
      break;
    default:
      break;
  }
}

void Executor::prepare_compute(const WalkedStep& walked, PreparedStep& prepared) {
  const plan::ProgramBlock& block = blocks_.blocks[static_cast<std::size_t>(walked.at.block)];
  const plan::Step& step = *walked.at.step;
  const model::BlockOperations& operations = block.sharded.operations;
  OperationCall& call = prepared.call;
  call.operation = &operations.operations[static_cast<std::size_t>(step.operation)];
  require_operation(*call.operation);
  call.block = operations.block;
  if (operations.layer_kind >= 0) {
    call.layer_kind = &config_.kinds[static_cast<std::size_t>(operations.layer_kind)];
  }
  call.phase = step.phase;
  std::size_t transients = 0;
  for (int i = 0; i < step.accesses.size(); ++i) {
    const plan::Access& access = step.accesses[i];
    const plan::ProgramTensor& tensor = block.tensors[static_cast<std::size_t>(access.tensor)];
    const SlotId slot = walked.accesses[static_cast<std::size_t>(i)];
    const Tensor view{tensor_of(slot).data, tensor.dtype, predict::dims_of(tensor.shape)};
    prepared.operands.emplace_back(slot, view);
    if (tensor.name == model::TensorName::kernel_scratch) {
      call.scratch = {view.data, static_cast<std::size_t>(view.bytes())};
      continue;
    }
    if (tensor.role == ledger::Role::transient) {
      call.transients[transients++] = view;
      continue;
    }
    if (access.mode == plan::AccessMode::write) prepared.written.emplace_back(slot, view);
    place_operand(access, tensor, view, call);
  }
  place_parameters(walked, prepared);
  prepare_products(call);
}

// Where among the operation's operands an access belongs.
void Executor::place_operand(const plan::Access& access, const plan::ProgramTensor& tensor,
                             const Tensor& view, OperationCall& call) {
  const model::Operation& operation = *call.operation;
  const int input = index_of(operation.inputs, access.tensor);
  const int output = index_of(operation.outputs, access.tensor);
  if (input >= 0) call.inputs[static_cast<std::size_t>(input)] = view;
  if (output >= 0) call.outputs[static_cast<std::size_t>(output)] = view;
  if (input >= 0 || output >= 0) return;  // also the gradient that a chunked loss makes
  const int of_input = index_of(operation.inputs, tensor.gradient_of);
  const int of_output = index_of(operation.outputs, tensor.gradient_of);
  if (access.mode == plan::AccessMode::read) {
    if (of_output >= 0) call.output_gradients[static_cast<std::size_t>(of_output)] = view;
  } else if (of_input >= 0) {
    call.input_gradients[static_cast<std::size_t>(of_input)] = {
        view, access.mode == plan::AccessMode::accumulate ? Destination::accumulate
                                                          : Destination::overwrite};
  }
}

void Executor::place_parameters(const WalkedStep& walked, PreparedStep& prepared) {
  const plan::Step& step = *walked.at.step;
  OperationCall& call = prepared.call;
  for (const std::int16_t parameter : step.reads_parameters) {
    const auto k = static_cast<std::size_t>(index_of(call.operation->parameters, parameter));
    const SlotId slot = walked.parameters[static_cast<std::size_t>(parameter)].weight;
    call.parameters[k] = tensor_of(slot);
    prepared.operands.emplace_back(slot, tensor_of(slot));
  }
  const auto now = static_cast<std::int64_t>(steps_.size());
  for (const std::int16_t parameter : step.writes_gradients) {
    const auto k = static_cast<std::size_t>(index_of(call.operation->parameters, parameter));
    const SlotId slot = walked.parameters[static_cast<std::size_t>(parameter)].gradient;
    const bool first = walked_.slots[static_cast<std::size_t>(slot)].first_step == now;
    call.parameter_gradients[k] = {tensor_of(slot),
                                   first ? Destination::overwrite : Destination::accumulate};
    prepared.operands.emplace_back(slot, tensor_of(slot));
    prepared.written.emplace_back(slot, tensor_of(slot));
  }
}

void Executor::prepare_products(OperationCall& call) {
  if (call.operation->kind == model::OpKind::chunked_loss) {
    const std::int64_t rows = call.inputs[0].dims[0];
    const std::int64_t chunk = call.transients[0].dims[0];
    call.gemms = chunk_products(call, chunk);
    if (rows % chunk != 0) call.last_gemms = chunk_products(call, rows % chunk);
  }
  if (call.operation->kind != model::OpKind::linear) return;
  GemmProblem problem;
  problem.threads = static_cast<int>(plan_.threads);
  if (call.phase != plan::Phase::backward) {
    const Tensor& x = call.inputs[0];
    problem.form = plan::GemmForm::forward;
    problem.sizes = {x.dims[0], width_of(call.outputs[0]), width_of(x)};
    problem.operands = x.dtype;
    problem.output = call.outputs[0].dtype;
    if (call.parameters[1].data != nullptr) problem.bias = call.parameters[1].dtype;
    call.gemms.forward = gemms_.of(problem);
    return;
  }
  const Tensor& dy = call.output_gradients[0];
  problem.operands = dy.dtype;
  const Written& dx = call.input_gradients[0];
  if (dx.wanted()) {
    problem.form = plan::GemmForm::backward_data;
    problem.sizes = {dy.dims[0], width_of(dy), width_of(dx.tensor)};
    problem.output = dx.tensor.dtype;
    problem.destination = dx.destination;
    call.gemms.backward_data = gemms_.of(problem);
  }
  const Written& dw = call.parameter_gradients[0];
  if (dw.wanted()) {
    problem.form = plan::GemmForm::backward_weight;
    problem.sizes = {dy.dims[0], width_of(dy), width_of(call.inputs[0])};
    problem.output = dw.tensor.dtype;
    problem.destination = dw.destination;
    call.gemms.backward_weight = gemms_.of(problem);
  }
}

LinearGemms Executor::chunk_products(const OperationCall& call, std::int64_t rows) {
  const Tensor& logits =
      call.transients[1].data != nullptr ? call.transients[1] : call.transients[0];
  GemmProblem problem;
  problem.threads = static_cast<int>(plan_.threads);
  problem.operands = call.inputs[0].dtype;
  problem.sizes = {rows, width_of(logits), width_of(call.inputs[0])};
  LinearGemms gemms;
  problem.form = plan::GemmForm::forward;
  problem.output = logits.dtype;
  gemms.forward = gemms_.of(problem);
  problem.form = plan::GemmForm::backward_data;
  problem.output = call.outputs[1].dtype;
  gemms.backward_data = gemms_.of(problem);
  const Written& dw = call.parameter_gradients[0];
  if (dw.wanted()) {
    problem.form = plan::GemmForm::backward_weight;
    problem.output = dw.tensor.dtype;
    problem.destination = Destination::accumulate;
    gemms.backward_weight = gemms_.of(problem);
  }
  return gemms;
}

}  // namespace fourhold::engine

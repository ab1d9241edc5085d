#include <utility>

#include "fourhold/engine/executor/executor.h"
#include "fourhold/engine/executor/operation_operands.h"
#include "fourhold/predict/entry_names.h"

namespace fourhold::engine {
namespace {

using plan::Work;

// `elements` of a tensor from `begin` on; the tensor itself where these are all.
Tensor part_of(const Tensor& tensor, std::int64_t begin, std::int64_t elements) {
  if (tensor.data == nullptr || elements == tensor.elements()) return tensor;
  return {tensor.data + bytes_of(begin, tensor.dtype), tensor.dtype, Dims{elements}};
}

}  // namespace

void Executor::prepare() {
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
    ParameterTensors own;
    own.id = {block, trained.layer, local.use.parameter.name};
    own.name = to_string(own.id);
    own.role = local.use.parameter.role;
    place_parts(local, slots, own);
    parameters_.push_back(std::move(own));
  }
}

void Executor::place_parts(const plan::LocalParameter& local, const ParameterSlots& slots,
                           ParameterTensors& own) const {
  const plan::ParameterPart whole = plan::local_part(plan_, groups_.rank(), local);
  const Group& sharding = groups_.of(plan::Axis::sharding);
  const plan::Piece piece = plan::piece_of(local.elements(), sharding.size(), sharding.place);
  const plan::ParameterPart slice = plan::cut(whole, piece);
  own.held = plan_.zero == 3 ? slice : whole;
  own.owned = plan_.zero >= 1 ? slice : whole;
  own.held_weight = tensor_of(slots.weight);
  // A tensor of the rank's slice alone, or the slice of a tensor of all local elements.
  const auto of_slice = [&](SlotId slot, int split_from) {
    const bool is_slice = plan_.zero >= split_from;
    return part_of(tensor_of(slot), is_slice ? 0 : own.owned.begin, own.owned.elements());
  };
  own.weight = of_slice(slots.weight, 3);
  own.gradient = of_slice(slots.gradient, 2);
  own.master = of_slice(slots.master, 1);
  own.moment1 = of_slice(slots.moment1, 1);
  own.moment2 = of_slice(slots.moment2, 1);
  const bool second_table = local.use.of_embedding && plan_.pp > 1;
  own.first_copy = !second_table && plan::is_first_copy(plan_, groups_.rank(), local);
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
      uses(walked_.buffers.exchange);
      [[fallthrough]];
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
      prepare_exchange(walked, step);
      break;
  }
}

void Executor::prepare_compute(const WalkedStep& walked, PreparedStep& prepared) {
  const plan::ProgramBlock& block = blocks_.blocks[static_cast<std::size_t>(walked.at.block)];
  const plan::Step& step = *walked.at.step;
  OperationCall& call = prepared.call;
  call = start_call(block, step, config_);
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

void Executor::place_parameters(const WalkedStep& walked, PreparedStep& prepared) {
  const plan::Step& step = *walked.at.step;
  OperationCall& call = prepared.call;
  for (const std::int16_t parameter : step.reads_parameters) {
    const std::size_t k = parameter_place(call, parameter);
    const SlotId slot = walked.parameters[static_cast<std::size_t>(parameter)].used_weight();
    call.parameters[k] = tensor_of(slot);
    prepared.operands.emplace_back(slot, tensor_of(slot));
  }
  const auto now = static_cast<std::int64_t>(steps_.size());
  for (const std::int16_t parameter : step.writes_gradients) {
    const std::size_t k = parameter_place(call, parameter);
    const SlotId slot = walked.parameters[static_cast<std::size_t>(parameter)].made_gradient();
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
  if (call.phase != plan::Phase::backward) {
    return prepare_forward_product(call, gemms_, static_cast<int>(plan_.threads));
  }
  GemmProblem problem;
  problem.threads = static_cast<int>(plan_.threads);
  const Tensor& dy = call.output_gradients[0];
  problem.operands = dy.dtype;
  const Written& dx = call.input_gradients[0];
  if (dx.wanted()) {
    problem.form = plan::GemmForm::backward_data;
    problem.sizes = {dy.dims[0], row_elements(dy), row_elements(dx.tensor)};
    problem.output = dx.tensor.dtype;
    problem.destination = dx.destination;
    call.gemms.backward_data = gemms_.of(problem);
  }
  const Written& dw = call.parameter_gradients[0];
  if (dw.wanted()) {
    problem.form = plan::GemmForm::backward_weight;
    problem.sizes = {dy.dims[0], row_elements(dy), row_elements(call.inputs[0])};
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
  problem.sizes = {rows, row_elements(logits), row_elements(call.inputs[0])};
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

#include "tests/interpreter/rank.h"

#include <algorithm>

#include "fourhold/plan/step_scalars.h"
#include "tests/interpreter/fault.h"

namespace fourhold::interpreter {
namespace {

using plan::AccessMode;
using plan::BlockInstance;
using plan::Direction;
using plan::Phase;
using plan::StepInstance;
using plan::Work;

constexpr std::array<std::string_view, 23> kWorkNames{"count_tokens",     "load_ids",
                                                      "load_targets",     "receive_activation",
                                                      "send_activation",  "receive_gradient",
                                                      "send_gradient",    "gather_weights",
                                                      "release_weights",  "compute",
                                                      "reduce_gradients", "end_micro_batch",
                                                      "reduce_loss",      "sum_replicas",
                                                      "sum_tied",         "reduce_all",
                                                      "gradient_norm",    "clip",
                                                      "optimize",         "gather_updated",
                                                      "fill_weight",      "zero_state",
                                                      "write_state"};

std::string name_of(Work work) {
  return std::string(kWorkNames.at(static_cast<std::size_t>(work)));
}

// Over the ranks and with the payload that the step states.
double sum_of_scalar(Door& door, const Setting& setting, std::int64_t rank, Work work, double own) {
  const auto scalar = std::find_if(
      plan::kStepScalars.begin(), plan::kStepScalars.end(),
      [work](const plan::StepScalar& candidate) { return candidate.summed_by == work; });
  Array payload(Dims{1});
  payload.data = {own};
  double sum = 0;
  const Group group = plan::group_of(setting.plan, scalar->axis, rank, 1);
  for (const Payload& each : door.meet(group, std::string(scalar->name), {payload})) {
    sum += each[0].data[0];
  }
  return sum;
}

bool begins(const std::vector<plan::Step>& list, const plan::Step& step) {
  return !list.empty() && &list.front() == &step;
}
bool ends(const std::vector<plan::Step>& list, const plan::Step& step) {
  return !list.empty() && &list.back() == &step;
}

// Position of `value` in a list of operands, -1 if it is none of them.
template <class List, class Value>
int index_of(const List& list, const Value& value) {
  const auto* found = std::find(list.begin(), list.end(), value);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

Rank::Rank(const Setting& setting, const plan::ProgramBlocks& blocks, const plan::Program& program,
           const std::vector<StepInstance>& steps, std::int64_t rank, Meetings& meetings,
           Mail& mail, const ParameterValues& values)
    : setting_(setting),
      blocks_(blocks),
      program_(program),
      steps_(steps),
      rank_(rank),
      door_(meetings, rank),
      mail_(mail),
      parameters_(setting, blocks, program, rank, door_, values) {
  for (const plan::Chunk& chunk : program.chunks) {
    lists_.push_back(plan::block_instances(chunk, blocks));
  }
}

bool Rank::advance() {
  if (done() || !door_.ready()) return false;
  try {
    door_.begin_step();
    perform(steps_[cursor_]);
    door_.end_step();
  } catch (const Waiting&) {
    return false;
  } catch (const ProgramFault& fault) {
    throw ProgramFault(where() + ": " + fault.what());
  }
  ++cursor_;
  return true;
}

std::string Rank::where() const {
  std::string text = "rank " + std::to_string(rank_);
  if (done()) return text + " is done";
  const StepInstance& at = steps_[cursor_];
  text += ", step " + std::to_string(cursor_) + " " + name_of(at.work);
  if (at.block >= 0) {
    const auto& operations = blocks_.blocks[static_cast<std::size_t>(at.block)].sharded.operations;
    text += " of " + std::string(model::to_string(operations.block));
    if (at.layer >= 0) text += " " + std::to_string(at.layer);
    if (at.step != nullptr) {
      const auto& op = operations.operations[static_cast<std::size_t>(at.step->operation)];
      const auto& out = operations.tensors[static_cast<std::size_t>(op.outputs[0])];
      constexpr std::array<std::string_view, 3> kPhases{"forward", "recompute", "backward"};
      text += ", " + std::string(kPhases[static_cast<std::size_t>(at.step->phase)]) +
              " of operation " + std::to_string(at.step->operation) + " (kind " +
              std::to_string(static_cast<int>(op.kind)) + ") that makes " +
              std::string(model::to_string(out.name));
    }
  }
  if (at.micro_batch >= 0) text += ", micro-batch " + std::to_string(at.micro_batch);
  return text;
}

void Rank::perform(const StepInstance& at) {
  const BlockInstance block{at.block, at.layer};
  switch (at.work) {
    case Work::count_tokens:
      return count_tokens();
    case Work::reduce_loss:
      return reduce_loss();
    case Work::load_ids:
      return load(at, model::TensorName::token_ids);
    case Work::load_targets:
      return load(at, model::TensorName::targets);
    case Work::receive_activation:
    case Work::receive_gradient:
      return receive(at);
    case Work::send_activation:
    case Work::send_gradient:
      return send(at);
    case Work::gather_weights:
      return parameters_.gather_weights(block);
    case Work::release_weights:
      return parameters_.release_weights(block);
    case Work::compute:
      return compute(at);
    case Work::reduce_gradients:
      return parameters_.reduce_gradients(block);
    case Work::end_micro_batch:
      return end_micro_batch(at);
    case Work::sum_replicas:
      return parameters_.sum_replicas(block);
    case Work::sum_tied:
      return parameters_.sum_tied(block);
    case Work::reduce_all:
      return parameters_.reduce_all(block);
    case Work::gradient_norm:
      return parameters_.gradient_norm();
    case Work::clip:
      return parameters_.clip();
    case Work::optimize:
      return parameters_.optimize(block);
    case Work::gather_updated:
      return parameters_.gather_updated(block);
    case Work::fill_weight:
    case Work::zero_state:
    case Work::write_state:
    case Work::choose_token:
      throw ProgramFault("belongs to another program");
  }
}

// The rank's own targets of all micro-batches, and then the sum.
void Rank::count_tokens() {
  double own = 0;
  for (std::int64_t i = 0; i < setting_.plan.grad_accum; ++i) {
    for (const TokenPlace& place : token_places(
             setting_.plan, plan::coordinates(setting_.plan, rank_), i, model::Region::inner)) {
      const auto& row = setting_.batch.targets[static_cast<std::size_t>(place.sequence)];
      if (row[static_cast<std::size_t>(place.position)] >= 0) ++own;
    }
  }
  valid_tokens_ = sum_of_scalar(door_, setting_, rank_, Work::count_tokens, own);
}

// Ranks of one tp group have computed the same loss: the first brings it.
void Rank::reduce_loss() {
  const bool first = plan::coordinates(setting_.plan, rank_).tp == 0;
  loss_ = sum_of_scalar(door_, setting_, rank_, Work::reduce_loss, first ? own_loss_ : 0);
}

void Rank::compute(const StepInstance& at) {
  const Position here = position(at);
  const plan::Step& step = *at.step;
  if (begins(block(here).backward, step)) finish_later_blocks(here);
  BlockStore& values = store(here);
  const Call call = call_for(at, values);
  const Kernel kernel = kernel_of(call.op().kind);
  const bool back = step.phase == Phase::backward;
  const Results results = back ? kernel.backward(call) : kernel.forward(call);
  if (back) {
    store_backward(call, results, values);
  } else {
    store_forward(call, results, values);
  }
  add_parameter_gradients(at, call, results);
  if (ends(block(here).forward, step)) leave_forward(here);
  if (ends(block(here).backward, step)) leave_backward(here);
}

// Everything the step states that it reads, and nothing else.
Call Rank::call_for(const StepInstance& at, const BlockStore& values) {
  const Position here = position(at);
  const plan::Step& step = *at.step;
  Call call{setting_, block(here), step, rank_, at.layer, at.micro_batch, valid_tokens_, door_};
  for (const plan::Access& access : step.accesses) {
    if (access.mode != AccessMode::read) continue;
    const plan::ProgramTensor& tensor =
        block(here).tensors[static_cast<std::size_t>(access.tensor)];
    const Array array = values.read(access.tensor);
    const int output =
        tensor.gradient_of < 0 ? -1 : index_of(call.op().outputs, tensor.gradient_of);
    if (output >= 0) call.gradients[output] = array;
    call.readable[access.tensor] = array;
  }
  for (const std::int16_t parameter : step.reads_parameters) {
    call.weights[parameter] = &parameters_.weight(instance(here), parameter);
  }
  return call;
}

void Rank::store_forward(const Call& call, const Results& results, BlockStore& values) {
  for (const plan::Access& access : call.step.accesses) {
    if (access.mode == AccessMode::read) continue;
    const auto& tensor = call.block.tensors[static_cast<std::size_t>(access.tensor)];
    if (tensor.role == ledger::Role::transient) continue;  // lives inside the kernel
    const int output = index_of(call.op().outputs, access.tensor);
    if (output < 0) throw ProgramFault("writes " + values.name_of(access.tensor) + ", no output");
    values.write(access.tensor, results.tensors[static_cast<std::size_t>(output)]);
  }
}

void Rank::store_backward(const Call& call, const Results& results, BlockStore& values) {
  for (const plan::Access& access : call.step.accesses) {
    if (access.mode == AccessMode::read) continue;
    const auto& tensor = call.block.tensors[static_cast<std::size_t>(access.tensor)];
    if (tensor.role == ledger::Role::transient) continue;
    const int input = index_of(call.op().inputs, tensor.gradient_of);
    if (input < 0) {
      throw ProgramFault("writes " + values.name_of(access.tensor) + ", the gradient of no input");
    }
    const Array& gradient = results.tensors[static_cast<std::size_t>(input)];
    if (access.mode == AccessMode::write) {
      values.write(access.tensor, gradient);
    } else {
      values.accumulate(access.tensor, gradient);
    }
  }
}

void Rank::add_parameter_gradients(const StepInstance& at, const Call& call,
                                   const Results& results) {
  for (const std::int16_t parameter : call.step.writes_gradients) {
    const auto k = static_cast<std::size_t>(index_of(call.op().parameters, parameter));
    parameters_.add_gradient({at.block, at.layer}, parameter, results.parameters.at(k));
  }
}

void Rank::load(const StepInstance& at, model::TensorName name) {
  const Position here = position(at);
  const auto& tensors = block(here).tensors;
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [name](const plan::ProgramTensor& tensor) {
        return tensor.name == name && tensor.role == ledger::Role::value;
      });
  const auto places = token_places(setting_.plan, plan::coordinates(setting_.plan, rank_),
                                   at.micro_batch, model::Region::inner);
  const bool ids = name == model::TensorName::token_ids;
  Array values(Dims{static_cast<std::int64_t>(places.size())});
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& rows = ids ? setting_.batch.tokens : setting_.batch.targets;
    values.data[i] = static_cast<double>(rows[static_cast<std::size_t>(places[i].sequence)]
                                             [static_cast<std::size_t>(places[i].position)]);
  }
  if (ids) stores_.emplace(key(here), BlockStore(block(here)));
  store(here).write(static_cast<std::int16_t>(found - tensors.begin()), values);
}

std::int64_t Rank::lane() const {
  const plan::Plan& plan = setting_.plan;
  return rank_ % (plan.tp * plan.cp * plan.dp);
}

std::int64_t Rank::virtual_stage(const StepInstance& at) const {
  return at.chunk * setting_.plan.pp + program_.stage;
}

void Rank::send(const StepInstance& at) {
  const bool forward = at.work == Work::send_activation;
  const Direction direction = forward ? Direction::forward : Direction::backward;
  if (!forward) finish_later_blocks(position(at));
  const auto found = leaving_.find({direction, static_cast<std::size_t>(at.chunk), at.micro_batch});
  if (found == leaving_.end()) throw ProgramFault("nothing is there to send");
  mail_[{direction, lane(), virtual_stage(at) + (forward ? 1 : -1), at.micro_batch}] =
      std::move(found->second);
  leaving_.erase(found);
}

void Rank::receive(const StepInstance& at) {
  const bool forward = at.work == Work::receive_activation;
  const Direction direction = forward ? Direction::forward : Direction::backward;
  const auto found = mail_.find({direction, lane(), virtual_stage(at), at.micro_batch});
  if (found == mail_.end()) throw Waiting{};
  const Array values = std::move(found->second);
  mail_.erase(found);
  if (forward) {
    enter_forward(position(at), values);
  } else {
    enter_backward(position(at), values);
  }
}

void Rank::enter_forward(const Position& at, const Array& input) {
  const auto [entry, fresh] = stores_.emplace(key(at), BlockStore(block(at)));
  if (!fresh) throw ProgramFault("a block is entered again before its backward is over");
  entry->second.write(block(at).input, input);
  if (block(at).forward.empty()) leave_forward(at);
}

void Rank::leave_forward(const Position& at) {
  const Array output = store(at).read(block(at).output);
  store(at).drop_unkept();
  if (block(at).sharded.operations.block == model::Block::head) {
    own_loss_ += output.data[0];
  } else if (at.index + 1 < lists_[at.chunk].size()) {
    enter_forward({at.chunk, at.index + 1, at.micro_batch}, output);
  } else {
    leaving_[{Direction::forward, at.chunk, at.micro_batch}] = output;
  }
}

void Rank::enter_backward(const Position& at, const Array& output_gradient) {
  store(at).write(block(at).output_gradient, output_gradient);
  if (block(at).backward.empty()) leave_backward(at);
}

void Rank::leave_backward(const Position& at) {
  Array gradient;
  if (block(at).input_gradient >= 0) gradient = store(at).read(block(at).input_gradient);
  stores_.erase(key(at));
  if (at.index > 0) {
    enter_backward({at.chunk, at.index - 1, at.micro_batch}, gradient);
  } else if (block(at).input_gradient >= 0) {
    leaving_[{Direction::backward, at.chunk, at.micro_batch}] = gradient;
  }
}

void Rank::finish_later_blocks(const Position& at) {
  const std::vector<BlockInstance>& list = lists_[at.chunk];
  const Position last{at.chunk, list.size() - 1, at.micro_batch};
  if (last.index == at.index && !block(last).backward.empty()) return;
  const bool head = block(last).sharded.operations.block == model::Block::head;
  if (head && block(last).backward.empty() && stores_.count(key(last)) != 0) leave_backward(last);
}

// After a forward every block has dropped what it does not keep; after a backward nothing is left.
void Rank::end_micro_batch(const StepInstance& at) const {
  if (at.direction == Direction::forward) return;
  for (const BlockInstance& block : lists_[static_cast<std::size_t>(at.chunk)]) {
    if (stores_.count({block.block, block.layer, at.micro_batch}) != 0) {
      throw ProgramFault("a block's backward did not run");
    }
  }
}

void Rank::check_at_rest() const {
  if (!stores_.empty() || !leaving_.empty()) {
    throw ProgramFault("rank " + std::to_string(rank_) + " ends with activations left over");
  }
  parameters_.check_at_rest();
}

Rank::Position Rank::position(const StepInstance& at) const {
  const std::vector<BlockInstance>& list = lists_[static_cast<std::size_t>(at.chunk)];
  const auto found = std::find_if(list.begin(), list.end(), [&](const BlockInstance& entry) {
    return entry.block == at.block && entry.layer == at.layer;
  });
  return {static_cast<std::size_t>(at.chunk), static_cast<std::size_t>(found - list.begin()),
          at.micro_batch};
}

BlockStore& Rank::store(const Position& at) {
  const auto found = stores_.find(key(at));
  if (found == stores_.end()) throw ProgramFault("the block has no values: nothing entered it");
  return found->second;
}

}  // namespace fourhold::interpreter

// What the executor does together with other ranks: weights and gradients to and from their owners,
// activations between stages, sums of single values.
#include <algorithm>
#include <cstring>
#include <utility>

#include "fourhold/engine/executor/executor.h"
#include "fourhold/plan/parameter_gradients.h"
#include "fourhold/plan/tied_embedding.h"

namespace fourhold::engine {
namespace {

using plan::Axis;
using plan::Work;

// Messages of one kind between two ranks: those of a virtual stage come in the order of its slots.
enum class Towards : std::uint8_t { next_stage, stage_before };
int tag_of(Towards towards, std::int64_t virtual_stage) {
  return static_cast<int>(2 * virtual_stage + (towards == Towards::next_stage ? 0 : 1));
}

Tensor piece_of_tensor(const Tensor& whole, const Group& group) {
  const plan::Piece piece = plan::piece_of(whole.elements(), group.size(), group.place);
  return {whole.data + bytes_of(piece.begin, whole.dtype), whole.dtype, Dims{piece.elements()}};
}

}  // namespace

std::vector<ParameterMotion> Executor::motions_of(const WalkedStep& walked) {
  std::vector<ParameterMotion> motions;
  for (std::size_t p = 0; p < walked.parameters.size(); ++p) {
    // Steps after the micro-batches come once for each storage.
    const bool once = walked.at.micro_batch == plan::StepInstance::kNone;
    if (once && !is_listed(walked, p)) continue;
    const auto motion = once ? motion_after_backward(walked, p) : motion_of_block(walked, p);
    if (motion) motions.push_back(*motion);
  }
  return motions;
}

// Of a tied head and its embedding on one stage only one is in the list.
bool Executor::is_listed(const WalkedStep& walked, std::size_t parameter) const {
  return std::any_of(walked_.parameters.begin(), walked_.parameters.end(),
                     [&](const TrainedParameter& each) {
                       return each.block == walked.at.block && each.layer == walked.at.layer &&
                              each.parameter == static_cast<std::int16_t>(parameter);
                     });
}

std::optional<ParameterMotion> Executor::motion_of_block(const WalkedStep& walked,
                                                         std::size_t parameter) {
  const ParameterSlots& slots = walked.parameters[parameter];
  ParameterMotion motion;
  motion.group = groups_.of(Axis::sharding);
  if (walked.at.work == Work::gather_weights) {
    motion.motion = Motion::gather_shard;
    motion.whole = tensor_of(slots.gathered);
    motion.shard = tensor_of(slots.weight);
    return motion;
  }
  if (walked.at.work != Work::reduce_gradients || slots.whole_gradient == kNoSlot) {
    return std::nullopt;
  }
  const auto now = static_cast<std::int64_t>(steps_.size());
  const TensorSlot& gradient = walked_.slots[static_cast<std::size_t>(slots.gradient)];
  motion.motion = Motion::reduce_shard;
  motion.whole = tensor_of(slots.whole_gradient);
  motion.shard = tensor_of(slots.gradient);
  motion.into = gradient.first_step == now ? Sum::replace : Sum::accumulate;
  motion.clear_whole = plan_.grad_accum > 1 &&
                       plan::written_in_forward(
                           blocks_.blocks[static_cast<std::size_t>(walked.at.block)], parameter);
  return motion;
}

std::optional<ParameterMotion> Executor::motion_after_backward(const WalkedStep& walked,
                                                               std::size_t parameter) {
  const ParameterSlots& slots = walked.parameters[parameter];
  const plan::LocalParameter& local =
      blocks_.blocks[static_cast<std::size_t>(walked.at.block)].sharded.parameters[parameter];
  ParameterMotion motion;
  motion.group = groups_.of(Axis::sharding);
  motion.whole = tensor_of(slots.gradient);
  switch (walked.at.work) {
    case Work::sum_replicas:
      if (!local.gradient_sum) return std::nullopt;
      motion.group = *local.gradient_sum == Axis::kv_replicas
                         ? groups_.kv_replicas(plan::kv_heads_of(local))
                         : groups_.of(*local.gradient_sum);
      return motion;
    case Work::sum_tied:
      if (!plan::holds_one_end(program_, blocks_) || !plan::is_token_table(local))
        return std::nullopt;
      motion.group = groups_.of(Axis::embedding);
      return motion;
    case Work::reduce_all:
      if (plan_.zero == 0) return motion;
      motion.motion = Motion::reduce_pieces;
      motion.shard = piece_of_tensor(motion.whole, motion.group);
      return motion;
    case Work::gather_updated:
      motion.motion = Motion::gather_pieces;
      motion.whole = tensor_of(slots.weight);
      return motion;
    default:
      return std::nullopt;
  }
}

void Executor::prepare_exchange(const WalkedStep& walked, PreparedStep& step) {
  const auto uses = [&](SlotId slot) {
    if (slot != kNoSlot) step.operands.emplace_back(slot, tensor_of(slot));
  };
  const auto writes = [&](SlotId slot) {
    if (slot != kNoSlot) step.written.emplace_back(slot, tensor_of(slot));
  };
  switch (walked.at.work) {
    case Work::receive_activation:
    case Work::receive_gradient:
      uses(walked.inputs.front());
      writes(walked.inputs.front());
      return;
    case Work::send_activation:
      uses(walked.inputs.front());
      return uses(walked_.buffers.activation_send);
    case Work::send_gradient:
      uses(walked.inputs.front());
      return uses(walked_.buffers.gradient_send);
    default:
      break;
  }
  if (walked.at.block < 0) return;
  for (const ParameterSlots& slots : walked.parameters) {
    switch (walked.at.work) {
      case Work::gather_weights:
        uses(slots.weight);
        uses(slots.gathered);
        writes(slots.gathered);
        break;
      case Work::release_weights:
        uses(slots.gathered);
        break;
      case Work::reduce_gradients:
        if (slots.whole_gradient == kNoSlot) break;
        uses(slots.whole_gradient);
        uses(slots.gradient);
        break;
      case Work::sum_replicas:
      case Work::sum_tied:
      case Work::reduce_all:
        uses(slots.gradient);
        break;
      case Work::gather_updated:
        uses(slots.weight);
        break;
      default:
        break;
    }
  }
  step.motions = motions_of(walked);
}

void Executor::exchange(const PreparedStep& step) {
  switch (step.at.work) {
    case Work::send_activation:
    case Work::send_gradient:
      return send(step);
    case Work::receive_activation:
    case Work::receive_gradient:
      return receive(step);
    default:
      break;
  }
  const Execution execution{.threads = static_cast<int>(plan_.threads), .isa = isa_};
  for (const ParameterMotion& motion : step.motions) {
    move_parameter(motion, collectives(), execution);
  }
  if (step.at.work == Work::gather_weights) gathering_ = &step;
}

// The program gathers a block before the one in front of it computes, so that the messages travel
// meanwhile. They are waited for where the block's own steps begin, or the next gather does.
void Executor::finish_gather_before(const PreparedStep& step) {
  if (gathering_ == nullptr) return;
  const plan::StepInstance& gathered = gathering_->at;
  const bool is_next = step.at.work == Work::gather_weights;
  const bool is_used = step.at.block == gathered.block && step.at.layer == gathered.layer;
  if (!is_next && !is_used) {
    if (collectives_) collectives_->advance();
    return;
  }
  if (collectives_) collectives_->finish_gathers();
  if (watch_ == Watch::on) slots_.check(gathering_->operands, gathering_->written);
  gathering_ = nullptr;
}

// What leaves is copied and on its way while the stage goes on; the copy before must have arrived.
void Executor::send(const PreparedStep& step) {
  const bool forward = step.at.work == Work::send_activation;
  const std::int64_t there = step.at.chunk * plan_.pp + groups_.at().pp + (forward ? 1 : -1);
  const auto direction = forward ? Towards::next_stage : Towards::stage_before;
  std::optional<int>& under_way = under_way_[forward ? 0 : 1];
  if (under_way) collectives_->finish_send(*under_way);
  const Tensor& leaving = step.operands[0].second;
  const Tensor& buffer = step.operands[1].second;
  std::memcpy(buffer.data, leaving.data, static_cast<std::size_t>(leaving.bytes()));
  under_way = tag_of(direction, there);
  collectives_->send(groups_.holder_of(there), *under_way, buffer);
}

void Executor::receive(const PreparedStep& step) {
  const bool forward = step.at.work == Work::receive_activation;
  const std::int64_t here = step.at.chunk * plan_.pp + groups_.at().pp;
  const auto direction = forward ? Towards::next_stage : Towards::stage_before;
  collectives_->receive(groups_.holder_of(here + (forward ? -1 : 1)), tag_of(direction, here),
                        step.operands[0].second);
}

template <class T>
T Executor::sum_of(Work work, T own) {
  if (!collectives_) return own;
  const auto* const scalar =
      std::find_if(plan::kStepScalars.begin(), plan::kStepScalars.end(),
                   [work](const plan::StepScalar& each) { return each.summed_by == work; });
  return collectives_->sum(groups_.of(scalar->axis), own);
}
template double Executor::sum_of(Work work, double own);
template std::int64_t Executor::sum_of(Work work, std::int64_t own);

}  // namespace fourhold::engine

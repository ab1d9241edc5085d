#include "fourhold/predict/moment_bytes.h"

#include <cstddef>

#include "fourhold/base/checked.h"

namespace fourhold::predict {
namespace {

std::int64_t device_gradient(const ParameterState& parameter) {
  return parameter.gradient.place == ledger::Place::device ? parameter.gradient.bytes() : 0;
}

// Most bytes over the steps of a direction, gradients counted from their birth on.
template <class GradientBytes>
DirectionPeak direction_peak(const DirectionLife& direction, const BlockState& state,
                             const GradientBytes& gradient_bytes) {
  DirectionPeak peak;
  std::int64_t gradients = 0;
  std::size_t birth = 0;
  for (std::size_t step = 0; step < direction.live_bytes.size(); ++step) {
    while (birth < direction.births.size() &&
           direction.births[birth].step <= static_cast<std::int32_t>(step)) {
      gradients += gradient_bytes(
          state.parameters[static_cast<std::size_t>(direction.births[birth].parameter)]);
      ++birth;
    }
    const std::int64_t bytes = direction.live_bytes[step] + gradients;
    if (bytes > peak.bytes) peak = {bytes, static_cast<std::int32_t>(step)};
  }
  return peak;
}

BlockPeaks block_peaks(const BlockLifetimes& life, const BlockState& state, bool whole, bool lazy) {
  const auto none = [](const ParameterState&) { return std::int64_t{0}; };
  const auto whole_gradient = [](const ParameterState& p) { return p.block_gradient_bytes; };
  const auto accumulator = [](const ParameterState& p) { return device_gradient(p); };
  BlockPeaks peaks;
  peaks.forward_later = direction_peak(life.forward, state, none);
  peaks.forward_first = whole  ? direction_peak(life.forward, state, whole_gradient)
                        : lazy ? direction_peak(life.forward, state, accumulator)
                               : peaks.forward_later;
  peaks.backward_later = whole ? direction_peak(life.backward, state, whole_gradient)
                               : direction_peak(life.backward, state, none);
  peaks.backward_first =
      !whole && lazy ? direction_peak(life.backward, state, accumulator) : peaks.backward_later;
  return peaks;
}

}  // namespace

BlockBytes block_bytes(const BlockLifetimes& life, const BlockState& state,
                       const plan::StateMotion& motion, plan::GradientLifetime gradient_lifetime) {
  const bool whole = motion.reduces_each_block;
  const bool lazy = gradient_lifetime == plan::GradientLifetime::backward_to_step;
  BlockBytes bytes;
  bytes.kept_bytes = life.kept_bytes;
  bytes.gathered_bytes = motion.gathers_blocks ? state.gathered_bytes : 0;
  for (const GradientBirth& birth : life.forward.births) {
    const ParameterState& parameter = state.parameters[static_cast<std::size_t>(birth.parameter)];
    bytes.forward_births += whole ? parameter.block_gradient_bytes : device_gradient(parameter);
  }
  if (lazy) bytes.backward_births = state.gradient_bytes - (whole ? 0 : bytes.forward_births);
  bytes.reduce_bytes = life.input_gradient_bytes + state.block_gradient_bytes;
  if (lazy) bytes.reduce_accumulators = state.gradient_bytes;
  bytes.peaks = block_peaks(life, state, whole, lazy);
  return bytes;
}

std::int64_t alive_bytes(const AliveCounts& alive, const std::vector<BlockBytes>& blocks) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    bytes = checked_add(bytes, checked_multiply(alive.kept[i], blocks[i].kept_bytes));
    bytes = checked_add(bytes, checked_multiply(alive.born[i], blocks[i].backward_births));
  }
  return bytes;
}

DirectionPeak work_bytes(const StageMoment& moment, const std::vector<BlockBytes>& blocks,
                         std::int64_t waiting_bytes) {
  const BlockBytes& block = blocks[static_cast<std::size_t>(moment.block)];
  const bool waiting = moment.forward_gradients_waiting;
  std::int64_t bytes = waiting ? waiting_bytes : 0;
  if (moment.gathered_next >= 0) {
    bytes += blocks[static_cast<std::size_t>(moment.gathered_next)].gathered_bytes;
  }
  if (moment.moment == Moment::reduce_block) {
    return {bytes + block.reduce_bytes - (waiting ? block.forward_births : 0) +
                (moment.first_backward ? block.reduce_accumulators : 0),
            0};
  }
  const BlockPeaks& peaks = block.peaks;
  const DirectionPeak& peak =
      moment.moment == Moment::forward
          ? (waiting ? peaks.forward_later : peaks.forward_first)
          : (moment.first_backward ? peaks.backward_first : peaks.backward_later);
  return {bytes + block.gathered_bytes + peak.bytes, peak.step};
}

DirectionPeak moment_bytes(const StageMoment& moment, const AliveCounts& alive,
                           const StageBytes& stage) {
  if (moment.moment == Moment::optimizer) return {stage.optimizer_bytes, 0};
  const DirectionPeak work = work_bytes(moment, stage.blocks, stage.waiting_bytes);
  const std::int64_t alive_here = alive_bytes(alive, stage.blocks);
  return {checked_add(checked_add(stage.static_bytes, alive_here), work.bytes), work.step};
}

}  // namespace fourhold::predict

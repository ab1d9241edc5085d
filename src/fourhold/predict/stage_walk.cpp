#include "fourhold/predict/stage_walk.h"

#include <algorithm>
#include <cstddef>

namespace fourhold::predict {
namespace {

using plan::Direction;
using plan::ProgramBlocks;

// Equal neighbouring blocks of a chunk.
struct Run {
  std::int16_t block = -1;
  std::int64_t count = 0;
  std::int64_t first_layer = -1;
};

std::vector<Run> runs_of(const plan::Chunk& chunk, const ProgramBlocks& blocks) {
  std::vector<Run> runs;
  const auto append = [&](std::int16_t block, std::int64_t layer) {
    const plan::ProgramBlock& made = blocks.blocks[static_cast<std::size_t>(block)];
    if (made.forward.empty()) return;  // a layer without branches does nothing
    if (!runs.empty() && runs.back().block == block) {
      ++runs.back().count;
    } else {
      runs.push_back({block, 1, layer});
    }
  };
  if (chunk.embedding) append(blocks.embedding, -1);
  for (std::size_t i = 0; i < chunk.layer_blocks.size(); ++i) {
    append(chunk.layer_blocks[i], chunk.first_layer + static_cast<std::int64_t>(i));
  }
  if (chunk.head) append(blocks.head, -1);
  return runs;
}

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

class Walk {
 public:
  explicit Walk(const WalkInput& input)
      : input_(input),
        program_(*input.program),
        lazy_(input.gradient_lifetime == plan::GradientLifetime::backward_to_step) {
    const std::size_t blocks = input.blocks->blocks.size();
    kept_.assign(blocks, 0);
    born_.assign(blocks, 0);
    result_.most_kept.assign(blocks, 0);
    for (const plan::Chunk& chunk : program_.chunks) runs_.push_back(runs_of(chunk, *input.blocks));
    born_chunks_.assign(program_.chunks.size(), 0);
    base_ = input.static_bytes;
    result_.peak.bytes = -1;
  }

  StageWalk run() {
    for (const plan::Slot& slot : program_.slots) {
      slot_ = &slot;
      if (slot.direction == Direction::forward) {
        forward(runs_[static_cast<std::size_t>(slot.chunk)]);
        result_.in_flight = std::max(result_.in_flight, ++chunks_alive_);
      } else {
        backward(runs_[static_cast<std::size_t>(slot.chunk)]);
        --chunks_alive_;
        born_chunks_[static_cast<std::size_t>(slot.chunk)] = 1;
      }
    }
    optimizer();
    return std::move(result_);
  }

 private:
  [[nodiscard]] const BlockLifetimes& life(std::int16_t block) const {
    return (*input_.lifetimes)[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] const BlockState& state(std::int16_t block) const {
    return (*input_.states)[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] std::int64_t gathered(std::int16_t block) const {
    return block < 0 || !program_.motion.gathers_blocks ? 0 : state(block).gathered_bytes;
  }
  [[nodiscard]] bool first_time() const {
    return born_chunks_[static_cast<std::size_t>(slot_->chunk)] == 0;
  }

  struct At {
    Moment moment;
    std::int16_t block;
    std::int16_t next;  // gathered ahead
    std::int64_t layer;
    std::int64_t extra_bytes;  // base beyond base_, from the other instances of the run
    std::int64_t extra_kept;   // instances of the run counted in extra_bytes
    std::int64_t extra_born;
  };

  void consider(const At& at, std::int64_t bytes, std::int32_t step) {
    if (bytes <= result_.peak.bytes) return;
    PeakPosition& peak = result_.peak;
    peak.bytes = bytes;
    peak.moment = at.moment;
    peak.block = at.block;
    peak.step = step;
    peak.micro_batch = slot_->micro_batch;
    peak.layer = static_cast<std::int32_t>(at.layer);
    peak.first_backward = first_time();
    peak.forward_gradients_waiting = forward_born_ > 0;
    peak.gathered_next = program_.motion.gathers_blocks ? at.next : std::int16_t{-1};
    peak.kept = kept_;
    peak.born = born_;
    if (at.block >= 0) {
      peak.kept[static_cast<std::size_t>(at.block)] += at.extra_kept;
      peak.born[static_cast<std::size_t>(at.block)] += at.extra_born;
    }
  }

  // The extremes of one block instance in one direction.
  void block_at(const At& at) {
    const std::int64_t outside = base_ + at.extra_bytes + gathered(at.block) + gathered(at.next);
    const BlockPeaks& peaks = (*input_.peaks)[static_cast<std::size_t>(at.block)];
    const bool forward = at.moment == Moment::forward;
    const DirectionPeak& peak =
        forward ? (forward_born_ > 0 ? peaks.forward_later : peaks.forward_first)
                : (first_time() ? peaks.backward_first : peaks.backward_later);
    consider(at, outside + peak.bytes, peak.step);
    if (forward || !program_.motion.reduces_each_block) return;
    // The block's weights are released; its whole gradient and the accumulators stand together.
    const BlockState& own = state(at.block);
    At reduce = at;
    reduce.moment = Moment::reduce_block;
    const std::int64_t accumulators = lazy_ && first_time() ? own.gradient_bytes : 0;
    consider(reduce,
             base_ + at.extra_bytes + gathered(at.next) + life(at.block).input_gradient_bytes +
                 own.block_gradient_bytes - (forward_born_ > 0 ? forward_births(at.block) : 0) +
                 accumulators,
             0);
  }

  void forward(const std::vector<Run>& runs) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const Run& run = runs[r];
      const std::int16_t after = r + 1 < runs.size() ? runs[r + 1].block : std::int16_t{-1};
      const std::int64_t kept = life(run.block).kept_bytes;
      visit_ends(run.count, [&](std::int64_t j) {
        block_at({.moment = Moment::forward,
                  .block = run.block,
                  .next = j + 1 < run.count ? run.block : after,
                  .layer = run.first_layer < 0 ? -1 : run.first_layer + j,
                  .extra_bytes = j * kept,
                  .extra_kept = j,
                  .extra_born = 0});
      });
      std::int64_t& count = kept_[static_cast<std::size_t>(run.block)];
      count += run.count;
      base_ += run.count * kept;
      std::int64_t& most = result_.most_kept[static_cast<std::size_t>(run.block)];
      most = std::max(most, count);
      after_forward(run);
    }
  }

  void backward(const std::vector<Run>& runs) {
    for (std::size_t r = runs.size(); r-- > 0;) {
      const Run& run = runs[r];
      const std::int16_t after = r > 0 ? runs[r - 1].block : std::int16_t{-1};
      const std::int64_t kept = life(run.block).kept_bytes;
      kept_[static_cast<std::size_t>(run.block)] -= run.count;
      base_ -= run.count * kept;
      const bool lazy_now = lazy_ && first_time();
      const std::int64_t births = lazy_now ? backward_births(run.block) : 0;
      // Instance j runs when those above it are done and those below still keep everything.
      visit_ends(run.count, [&](std::int64_t j) {
        const std::int64_t done = run.count - 1 - j;
        block_at({.moment = Moment::backward,
                  .block = run.block,
                  .next = j > 0 ? run.block : after,
                  .layer = run.first_layer < 0 ? -1 : run.first_layer + j,
                  .extra_bytes = j * kept + done * births,
                  .extra_kept = j,
                  .extra_born = lazy_now ? done : 0});
      });
      if (lazy_now) {
        born_[static_cast<std::size_t>(run.block)] += run.count;
        base_ += run.count * births;
      }
      after_backward(run);
    }
  }

  // Device bytes of accumulators that the backward of one instance brings to life.
  [[nodiscard]] std::int64_t backward_births(std::int16_t block) const {
    const bool in_forward = !program_.motion.reduces_each_block;
    return state(block).gradient_bytes - (in_forward ? forward_births(block) : 0);
  }
  // Gradients a forward makes (the chunked loss): whole ones where blocks are reduced, else the
  // accumulators themselves.
  [[nodiscard]] std::int64_t forward_births(std::int16_t block) const {
    std::int64_t bytes = 0;
    for (const GradientBirth& birth : life(block).forward.births) {
      const ParameterState& parameter =
          state(block).parameters[static_cast<std::size_t>(birth.parameter)];
      bytes += program_.motion.reduces_each_block ? parameter.block_gradient_bytes
                                                  : device_gradient(parameter);
    }
    return bytes;
  }
  // Such a gradient is one buffer: alive from the first forward on, and with reduction per block
  // until the backward of the last forward that added to it.
  void after_forward(const Run& run) {
    if (life(run.block).forward.births.empty()) return;
    if (!program_.motion.reduces_each_block && !lazy_) return;
    if (forward_born_++ == 0) base_ += forward_births(run.block);
  }
  void after_backward(const Run& run) {
    if (life(run.block).forward.births.empty() || !program_.motion.reduces_each_block) return;
    if (--forward_born_ == 0) base_ -= forward_births(run.block);
  }

  // Calls `visit` for the instances of a run where an extreme can lie: the two at each end.
  template <class Visit>
  static void visit_ends(std::int64_t count, const Visit& visit) {
    for (std::int64_t j = 0; j < count; ++j) {
      if (j == 2 && count > 4) j = count - 2;
      visit(j);
    }
  }

  void optimizer() {
    std::int64_t bytes = input_.static_bytes + input_.optimizer_scratch_bytes;
    for (std::size_t block = 0; block < born_.size(); ++block) {
      if (lazy_) bytes += born_[block] * (*input_.states)[block].gradient_bytes;
    }
    const plan::Slot once{Direction::backward, 0, -1};
    slot_ = &once;
    consider({.moment = Moment::optimizer,
              .block = -1,
              .next = -1,
              .layer = -1,
              .extra_bytes = 0,
              .extra_kept = 0,
              .extra_born = 0},
             bytes, 0);
    slot_ = nullptr;
  }

  const WalkInput& input_;
  const plan::Program& program_;
  const bool lazy_;
  const plan::Slot* slot_ = nullptr;
  std::vector<std::vector<Run>> runs_;     // per chunk
  std::vector<std::int64_t> kept_;         // per block
  std::vector<std::int64_t> born_;         // per block
  std::vector<std::uint8_t> born_chunks_;  // per chunk: its first backward is over
  std::int64_t forward_born_ = 0;          // forwards whose gradients wait for their backward
  std::int64_t base_ = 0;
  std::int64_t chunks_alive_ = 0;
  StageWalk result_;
};

}  // namespace

BlockPeaks block_peaks(const BlockLifetimes& life, const BlockState& state,
                       const plan::StateMotion& motion, plan::GradientLifetime gradient_lifetime) {
  const bool whole = motion.reduces_each_block;
  const bool lazy = gradient_lifetime == plan::GradientLifetime::backward_to_step;
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

StageWalk walk_stage(const WalkInput& input) { return Walk(input).run(); }

}  // namespace fourhold::predict

#include "fourhold/predict/stage_moments.h"

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

class Walk {
 public:
  Walk(const MomentInput& stage, MomentVisitor& visitor)
      : stage_(stage),
        visitor_(visitor),
        lazy_(stage.gradient_lifetime == plan::GradientLifetime::backward_to_step) {
    const std::size_t blocks = stage.blocks->blocks.size();
    alive_.kept.assign(blocks, 0);
    alive_.born.assign(blocks, 0);
    runs_.reserve(stage.chunks->size());
    for (const plan::Chunk& chunk : *stage.chunks) runs_.push_back(runs_of(chunk, *stage.blocks));
  }

  void run(const SlotStates& slots) {
    for (const SlotState& state : slots.fullest) {
      start(state);
      const std::vector<Run>& runs = runs_[static_cast<std::size_t>(state.slot.chunk)];
      state.slot.direction == Direction::forward ? forward(runs) : backward(runs);
    }
    StageMoment step;
    step.moment = Moment::optimizer;
    step.forward_gradients_waiting = forward_born_ > 0;
    std::fill(alive_.kept.begin(), alive_.kept.end(), 0);
    if (lazy_) {
      std::fill(alive_.born.begin(), alive_.born.end(), 0);
      for (const std::vector<Run>& runs : runs_) add_runs(runs, 1, alive_.born);
    }
    visitor_.visit(step, alive_);
  }

 private:
  static void add_runs(const std::vector<Run>& runs, std::int64_t times,
                       std::vector<std::int64_t>& counts) {
    for (const Run& run : runs) counts[static_cast<std::size_t>(run.block)] += times * run.count;
  }

  void start(const SlotState& state) {
    at_.micro_batch = state.slot.micro_batch;
    at_.first_backward = state.first_backward;
    std::fill(alive_.kept.begin(), alive_.kept.end(), 0);
    std::fill(alive_.born.begin(), alive_.born.end(), 0);
    for (std::size_t chunk = 0; chunk < runs_.size(); ++chunk) {
      add_runs(runs_[chunk], state.alive[chunk], alive_.kept);
      if (lazy_ && state.born[chunk] != 0) add_runs(runs_[chunk], 1, alive_.born);
    }
    forward_born_ = 0;
    if (runs_.back().empty() || !makes_gradients(runs_.back().back())) return;
    if (stage_.motion.reduces_each_block) {
      forward_born_ = state.last_chunk_alive;
    } else if (lazy_) {
      forward_born_ = state.last_chunk_forwarded ? 1 : 0;
    }
  }

  void forward(const std::vector<Run>& runs) {
    at_.moment = Moment::forward;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const Run& run = runs[r];
      const std::int16_t after = r + 1 < runs.size() ? runs[r + 1].block : std::int16_t{-1};
      std::int64_t& kept = kept_of(run.block);
      const std::int64_t before = kept;
      visit_ends(run.count, [&](std::int64_t j) {
        kept = before + j;
        visit(run, j, j + 1 < run.count ? run.block : after);
      });
      kept = before + run.count;
      after_forward(run);
    }
  }

  void backward(const std::vector<Run>& runs) {
    const bool births = lazy_ && at_.first_backward;
    for (std::size_t r = runs.size(); r-- > 0;) {
      const Run& run = runs[r];
      const std::int16_t after = r > 0 ? runs[r - 1].block : std::int16_t{-1};
      std::int64_t& kept = kept_of(run.block);
      std::int64_t& born = alive_.born[static_cast<std::size_t>(run.block)];
      const std::int64_t kept_below = kept - run.count;
      const std::int64_t born_before = born;
      // Instance j runs when those above it are done and those below still keep everything.
      visit_ends(run.count, [&](std::int64_t j) {
        kept = kept_below + j;
        if (births) born = born_before + run.count - 1 - j;
        at_.moment = Moment::backward;
        visit(run, j, j > 0 ? run.block : after);
        if (!stage_.motion.reduces_each_block) return;
        // The block's weights are released; its whole gradient and the accumulators stand together.
        at_.moment = Moment::reduce_block;
        visit(run, j, j > 0 ? run.block : after);
      });
      kept = kept_below;
      if (births) born = born_before + run.count;
      after_backward(run);
    }
  }

  void visit(const Run& run, std::int64_t instance, std::int16_t next) {
    at_.block = run.block;
    at_.gathered_next = stage_.motion.gathers_blocks ? next : std::int16_t{-1};
    at_.layer = run.first_layer < 0 ? -1 : static_cast<std::int32_t>(run.first_layer + instance);
    at_.forward_gradients_waiting = forward_born_ > 0;
    visitor_.visit(at_, alive_);
  }

  // A gradient made by a forward (the chunked loss) is one buffer: alive from the first forward on,
  // and with reduction per block until the backward of the last forward that added to it.
  void after_forward(const Run& run) {
    if (!makes_gradients(run)) return;
    if (stage_.motion.reduces_each_block || lazy_) ++forward_born_;
  }
  void after_backward(const Run& run) {
    if (makes_gradients(run) && stage_.motion.reduces_each_block) --forward_born_;
  }
  // Only the head, the last block of the last chunk, does.
  [[nodiscard]] bool makes_gradients(const Run& run) const {
    const auto& steps = stage_.blocks->blocks[static_cast<std::size_t>(run.block)].forward;
    return std::any_of(steps.begin(), steps.end(),
                       [](const plan::Step& step) { return !step.writes_gradients.empty(); });
  }

  // Calls `visit` for the instances of a run where an extreme can lie: the two at each end.
  template <class Visit>
  static void visit_ends(std::int64_t count, const Visit& visit) {
    for (std::int64_t j = 0; j < count; ++j) {
      if (j == 2 && count > 4) j = count - 2;
      visit(j);
    }
  }

  std::int64_t& kept_of(std::int16_t block) { return alive_.kept[static_cast<std::size_t>(block)]; }

  const MomentInput& stage_;
  MomentVisitor& visitor_;
  const bool lazy_;
  std::vector<std::vector<Run>> runs_;  // per chunk
  std::int64_t forward_born_ = 0;       // forwards whose gradients wait for their backward
  StageMoment at_;
  AliveCounts alive_;
};

}  // namespace

void visit_moments(const MomentInput& stage, const SlotStates& slots, MomentVisitor& visitor) {
  Walk(stage, visitor).run(slots);
}

}  // namespace fourhold::predict

#include "fourhold/predict/stage_moments.h"

#include <algorithm>
#include <cstddef>
#include <utility>

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
  Walk(const plan::Program& program, const ProgramBlocks& blocks,
       const std::vector<BlockLifetimes>& lifetimes, plan::GradientLifetime gradient_lifetime,
       MomentVisitor& visitor)
      : program_(program),
        lifetimes_(lifetimes),
        visitor_(visitor),
        lazy_(gradient_lifetime == plan::GradientLifetime::backward_to_step) {
    alive_.kept.assign(blocks.blocks.size(), 0);
    alive_.born.assign(blocks.blocks.size(), 0);
    counts_.most_kept.assign(blocks.blocks.size(), 0);
    runs_.reserve(program.chunks.size());
    for (const plan::Chunk& chunk : program.chunks) runs_.push_back(runs_of(chunk, blocks));
    born_chunks_.assign(program.chunks.size(), 0);
  }

  StageCounts run() {
    std::int64_t chunks_alive = 0;
    for (const plan::Slot& slot : program_.slots) {
      const auto chunk = static_cast<std::size_t>(slot.chunk);
      at_.micro_batch = slot.micro_batch;
      at_.first_backward = born_chunks_[chunk] == 0;
      if (slot.direction == Direction::forward) {
        forward(runs_[chunk]);
        counts_.in_flight = std::max(counts_.in_flight, ++chunks_alive);
      } else {
        backward(runs_[chunk]);
        --chunks_alive;
        born_chunks_[chunk] = 1;
      }
    }
    const StageMoment step{.moment = Moment::optimizer,
                           .first_backward = born_chunks_[0] == 0,
                           .forward_gradients_waiting = forward_born_ > 0};
    visitor_.visit(step, alive_);
    return std::move(counts_);
  }

 private:
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
      std::int64_t& most = counts_.most_kept[static_cast<std::size_t>(run.block)];
      most = std::max(most, kept);
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
        if (!program_.motion.reduces_each_block) return;
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
    at_.gathered_next = program_.motion.gathers_blocks ? next : std::int16_t{-1};
    at_.layer = run.first_layer < 0 ? -1 : static_cast<std::int32_t>(run.first_layer + instance);
    at_.forward_gradients_waiting = forward_born_ > 0;
    visitor_.visit(at_, alive_);
  }

  // A gradient made by a forward (the chunked loss) is one buffer: alive from the first forward on,
  // and with reduction per block until the backward of the last forward that added to it.
  void after_forward(const Run& run) {
    if (!makes_gradients(run)) return;
    if (program_.motion.reduces_each_block || lazy_) ++forward_born_;
  }
  void after_backward(const Run& run) {
    if (makes_gradients(run) && program_.motion.reduces_each_block) --forward_born_;
  }
  [[nodiscard]] bool makes_gradients(const Run& run) const {
    return !lifetimes_[static_cast<std::size_t>(run.block)].forward.births.empty();
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

  const plan::Program& program_;
  const std::vector<BlockLifetimes>& lifetimes_;
  MomentVisitor& visitor_;
  const bool lazy_;
  std::vector<std::vector<Run>> runs_;     // per chunk
  std::vector<std::uint8_t> born_chunks_;  // per chunk: its first backward is over
  std::int64_t forward_born_ = 0;          // forwards whose gradients wait for their backward
  StageMoment at_;
  AliveCounts alive_;
  StageCounts counts_;
};

}  // namespace

StageCounts visit_moments(const plan::Program& program, const ProgramBlocks& blocks,
                          const std::vector<BlockLifetimes>& lifetimes,
                          plan::GradientLifetime gradient_lifetime, MomentVisitor& visitor) {
  return Walk(program, blocks, lifetimes, gradient_lifetime, visitor).run();
}

}  // namespace fourhold::predict

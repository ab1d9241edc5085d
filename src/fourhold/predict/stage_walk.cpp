#include "fourhold/predict/stage_walk.h"

#include <algorithm>
#include <cstddef>

namespace fourhold::predict {
namespace {

class Fullest final : public MomentVisitor {
 public:
  explicit Fullest(const StageBytes& stage) : stage_(stage) {}

  void visit(const StageMoment& moment, const AliveCounts& alive) override {
    const DirectionPeak here = moment_bytes(moment, alive, stage_);
    if (here.bytes <= peak_.bytes) return;
    static_cast<StageMoment&>(peak_) = moment;
    static_cast<AliveCounts&>(peak_) = alive;
    peak_.bytes = here.bytes;
    peak_.step = here.step;
  }

  [[nodiscard]] const PeakPosition& peak() const { return peak_; }

 private:
  const StageBytes& stage_;
  PeakPosition peak_;
};

std::vector<std::vector<std::int64_t>> instances_of(const plan::Program& program,
                                                    const plan::ProgramBlocks& blocks) {
  std::vector<std::vector<std::int64_t>> instances;
  instances.reserve(program.chunks.size());
  for (const plan::Chunk& chunk : program.chunks) {
    std::vector<std::int64_t>& counts = instances.emplace_back(blocks.blocks.size(), 0);
    if (chunk.embedding) ++counts[static_cast<std::size_t>(blocks.embedding)];
    if (chunk.head) ++counts[static_cast<std::size_t>(blocks.head)];
    for (const std::int16_t block : chunk.layer_blocks) ++counts[static_cast<std::size_t>(block)];
  }
  return instances;
}

// What is kept right after a chunk's forward is the most there is. `instances` per chunk and block.
std::vector<std::int64_t> most_kept(const std::vector<std::vector<std::int64_t>>& instances,
                                    const SlotStates& slots) {
  std::vector<std::int64_t> most(instances.front().size(), 0);
  for (const SlotState& state : slots.fullest) {
    if (state.slot.direction != plan::Direction::forward) continue;
    for (std::size_t block = 0; block < most.size(); ++block) {
      std::int64_t kept = 0;
      for (std::size_t chunk = 0; chunk < instances.size(); ++chunk) {
        const bool runs = state.slot.chunk == static_cast<std::int32_t>(chunk);
        kept += (state.alive[chunk] + (runs ? 1 : 0)) * instances[chunk][block];
      }
      most[block] = std::max(most[block], kept);
    }
  }
  return most;
}

}  // namespace

StageWalk walk_stage(const WalkInput& input) {
  const plan::Program& program = *input.program;
  const plan::Plan& plan = program.plan;
  const SlotStates slots = fullest_slots(
      plan::stage_runs(plan.schedule, plan.pp, program.stage, plan.vpp, plan.grad_accum),
      program.chunks.size());
  Fullest fullest(*input.bytes);
  visit_moments({.chunks = &program.chunks,
                 .blocks = input.blocks,
                 .motion = program.motion,
                 .gradient_lifetime = input.gradient_lifetime},
                slots, fullest);
  StageWalk walk;
  walk.peak = fullest.peak();
  walk.in_flight = slots.in_flight;
  walk.most_kept = most_kept(instances_of(program, *input.blocks), slots);
  return walk;
}

}  // namespace fourhold::predict

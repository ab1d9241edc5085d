#include "fourhold/predict/pipeline_time.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace fourhold::predict {
namespace {

using plan::Direction;
using plan::ScheduleKind;
using plan::Slot;

constexpr double kNotYet = -1;

class Replay {
 public:
  explicit Replay(const PipelineInput& input)
      : input_(input),
        virtual_stages_(input.pp * input.vpp),
        forward_end_(static_cast<std::size_t>(virtual_stages_ * input.micro_batches), kNotYet),
        backward_end_(forward_end_) {
    for (std::int64_t stage = 0; stage < input.pp; ++stage) {
      slots_.push_back(
          plan::stage_slots(input.schedule, input.pp, stage, input.vpp, input.micro_batches));
    }
    next_.assign(static_cast<std::size_t>(input.pp), 0);
    free_.assign(static_cast<std::size_t>(input.pp), 0.0);
  }

  // Stages take turns, each running until it waits for another.
  std::vector<double> run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t stage = 0; stage < slots_.size(); ++stage) {
        while (advance(stage)) moved = true;
      }
    }
    for (std::size_t stage = 0; stage < slots_.size(); ++stage) {
      assert(next_[stage] == slots_[stage].size() && "a schedule without deadlock");
    }
    return free_;
  }

 private:
  [[nodiscard]] std::size_t cell(std::int64_t virtual_stage, std::int64_t micro_batch) const {
    return static_cast<std::size_t>(virtual_stage * input_.micro_batches + micro_batch);
  }

  // When the slot's input is there, or kNotYet.
  [[nodiscard]] double ready(const Slot& slot, std::int64_t virtual_stage) const {
    if (slot.direction == Direction::forward) {
      if (virtual_stage == 0) return 0;
      const double before = forward_end_[cell(virtual_stage - 1, slot.micro_batch)];
      return before == kNotYet ? kNotYet : before + input_.edge_seconds;
    }
    if (virtual_stage == virtual_stages_ - 1) {
      return forward_end_[cell(virtual_stage, slot.micro_batch)];
    }
    const double after = backward_end_[cell(virtual_stage + 1, slot.micro_batch)];
    return after == kNotYet ? kNotYet : after + input_.edge_seconds;
  }

  // Runs the stage's next slot if it can.
  bool advance(std::size_t stage) {
    if (next_[stage] == slots_[stage].size()) return false;
    const Slot& slot = slots_[stage][next_[stage]];
    const std::int64_t virtual_stage = slot.chunk * input_.pp + static_cast<std::int64_t>(stage);
    const double at = ready(slot, virtual_stage);
    if (at == kNotYet) return false;
    const ChunkSeconds& chunk = input_.chunks[static_cast<std::size_t>(virtual_stage)];
    const bool forward = slot.direction == Direction::forward;
    const double end = std::max(at, free_[stage]) + (forward ? chunk.forward : chunk.backward);
    (forward ? forward_end_ : backward_end_)[cell(virtual_stage, slot.micro_batch)] = end;
    free_[stage] = end;
    ++next_[stage];
    return true;
  }

  const PipelineInput& input_;
  std::int64_t virtual_stages_;
  std::vector<std::vector<Slot>> slots_;
  std::vector<double> forward_end_;   // per virtual stage and micro-batch
  std::vector<double> backward_end_;  // the same
  std::vector<std::size_t> next_;     // per stage: its next slot
  std::vector<double> free_;          // per stage: when it has finished what it ran
};

// Time that stage `stage` of a pipeline without chunks must wait while the stages after it make
// their round of `after` seconds. `ahead` = forwards it runs beside its first before a backward.
double waits(const PipelineInput& input, const ChunkSeconds& own, std::int64_t stage,
             double after) {
  const std::int64_t behind = input.pp - stage - 1;
  if (input.schedule == ScheduleKind::gpipe) return after;
  if (input.micro_batches > behind + 1) {
    const auto others = static_cast<double>(behind);
    return std::max(0.0, after - others * own.forward) +
           std::max(0.0, after - others * own.backward);
  }
  // All forwards run before the first backward: there is one wait.
  const auto others = static_cast<double>(input.micro_batches - 1);
  return std::max({0.0, after - others * own.forward, after - others * own.backward});
}

}  // namespace

std::vector<double> replay(const PipelineInput& input) {
  // One stage waits for nobody: the bound is the time.
  if (input.pp * input.vpp == 1) return stage_end_bounds(input);
  return Replay(input).run();
}

std::vector<double> stage_end_bounds(const PipelineInput& input) {
  std::vector<double> ends;
  stage_end_bounds(input, ends);
  return ends;
}

void stage_end_bounds(const PipelineInput& input, std::vector<double>& ends) {
  assert(input.chunks.size() == static_cast<std::size_t>(input.pp * input.vpp) &&
         "a time for each virtual stage");
  const auto stages = static_cast<std::size_t>(input.pp);
  ends.assign(stages, 0.0);
  double after = 0;  // round of the stages after this one, with its edges
  for (std::size_t stage = 1; stage < stages; ++stage) {
    after += input.chunks[stage].both() + 2 * input.edge_seconds;
  }
  double fill = 0;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    double work = 0;
    for (std::size_t chunk = stage; chunk < input.chunks.size(); chunk += stages) {
      work += input.chunks[chunk].both();
    }
    const ChunkSeconds& first = input.chunks[stage];
    ends[stage] = fill + static_cast<double>(input.micro_batches) * work;
    if (input.vpp == 1) ends[stage] += waits(input, first, static_cast<std::int64_t>(stage), after);
    fill += first.forward + input.edge_seconds;
    if (stage + 1 < stages) after -= input.chunks[stage + 1].both() + 2 * input.edge_seconds;
  }
  for (std::size_t stage = stages - 1; stage > 0; --stage) {
    ends[stage - 1] = std::max(ends[stage - 1],
                               ends[stage] + input.edge_seconds + input.chunks[stage - 1].backward);
  }
}

double pipeline_lower_bound(const PipelineInput& input) { return stage_end_bounds(input).front(); }

}  // namespace fourhold::predict

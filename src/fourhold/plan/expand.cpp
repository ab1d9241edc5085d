#include "fourhold/plan/expand.h"

#include <algorithm>

namespace fourhold::plan {
namespace {

using model::Block;

// What the program runs of its schedule: the forwards alone where it only evaluates, nothing where
// no micro-batch runs.
std::vector<Slot> slots_of(const Program& program) {
  const bool schedules =
      program.kind == ProgramKind::train_step || program.kind == ProgramKind::evaluate;
  if (!schedules) return {};
  const Plan& plan = program.plan;
  std::vector<Slot> slots =
      stage_slots(plan.schedule, plan.pp, program.stage, plan.vpp, plan.grad_accum);
  if (program.kind == ProgramKind::evaluate) {
    std::erase_if(slots, [](const Slot& slot) { return slot.direction == Direction::backward; });
  }
  return slots;
}

class Expansion {
 public:
  Expansion(const Program& program, const ProgramBlocks& blocks,
            const std::function<void(const StepInstance&)>& visit)
      : program_(program), blocks_(blocks), visit_(visit), slots_(slots_of(program)) {
    for (const Chunk& chunk : program.chunks) instances_.push_back(block_instances(chunk, blocks));
  }

  void run() {
    switch (program_.kind) {
      case ProgramKind::train_step:
      case ProgramKind::evaluate:
        return micro_batches();
      case ProgramKind::start:
        // Moments come after all weights: the pieces in which these arrive are gone by then.
        for_each_parameter(Work::fill_weight, Parameters::all);
        return for_each_parameter(Work::zero_state, Parameters::trained);
      case ProgramKind::save:
        // What is not trained stays where it was read from.
        return for_each_parameter(Work::write_state, Parameters::trained);
      case ProgramKind::sample:
        return sample_pass();
    }
  }

 private:
  void micro_batches() {
    const BlockInstance whole{};
    emit(Work::count_tokens, {Direction::forward, StepInstance::kNone, StepInstance::kNone}, whole);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.direction == Direction::forward) {
        forward(slot, backward_follows(i));
      } else {
        backward(slot);
      }
    }
    emit(Work::reduce_loss, kOnce, whole);
    if (program_.kind == ProgramKind::train_step) finish();
  }

  // On one device: nothing is gathered, sent or received.
  void sample_pass() {
    const Slot slot{Direction::forward, 0, program_.pass};
    const std::vector<BlockInstance>& list = instances(slot);
    emit(Work::load_ids, slot, list.front());
    for (const BlockInstance& at : list) {
      for (const Step& step : block(at.block).forward) emit(Work::compute, slot, at, &step);
    }
    if (chunk(slot).head) emit(Work::choose_token, slot, list.back());
  }

  [[nodiscard]] const ProgramBlock& block(std::int16_t index) const {
    return blocks_.blocks[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const std::vector<BlockInstance>& instances(const Slot& slot) const {
    return instances_[static_cast<std::size_t>(slot.chunk)];
  }
  [[nodiscard]] const Chunk& chunk(const Slot& slot) const {
    return program_.chunks[static_cast<std::size_t>(slot.chunk)];
  }
  // The head's backward begins where its forward ends: its gathered weights stay.
  [[nodiscard]] bool backward_follows(std::size_t index) const {
    if (index + 1 >= slots_.size()) return false;
    const Slot& now = slots_[index];
    const Slot& next = slots_[index + 1];
    return next.direction == Direction::backward && next.chunk == now.chunk &&
           next.micro_batch == now.micro_batch;
  }

  void emit(Work work, const Slot& slot, const BlockInstance& at, const Step* step = nullptr) {
    visit_({.work = work,
            .direction = slot.direction,
            .block = at.block,
            .chunk = slot.chunk,
            .layer = at.layer,
            .micro_batch = slot.micro_batch,
            .step = step});
  }

  // Weights are gathered one block ahead of their use, within the slot.
  void gather(const Slot& slot, const BlockInstance& at) {
    if (program_.motion.gathers_blocks) emit(Work::gather_weights, slot, at);
  }
  void release(const Slot& slot, const BlockInstance& at) {
    if (program_.motion.gathers_blocks) emit(Work::release_weights, slot, at);
  }

  void forward(const Slot& slot, bool stays_gathered) {
    const std::vector<BlockInstance>& list = instances(slot);
    emit(chunk(slot).embedding ? Work::load_ids : Work::receive_activation, slot, list.front());
    gather(slot, list.front());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (block(list[i].block).sharded.operations.block == Block::head) {
        emit(Work::load_targets, slot, list[i]);
      }
      if (i + 1 < list.size()) gather(slot, list[i + 1]);
      for (const Step& step : block(list[i].block).forward) {
        emit(Work::compute, slot, list[i], &step);
      }
      const bool last = i + 1 == list.size();
      if (!(last && stays_gathered)) release(slot, list[i]);
    }
    gathered_from_forward_ = stays_gathered;
    if (!chunk(slot).head) emit(Work::send_activation, slot, list.back());
    emit(Work::end_micro_batch, slot, list.back());
  }

  void backward(const Slot& slot) {
    const std::vector<BlockInstance>& list = instances(slot);
    if (!chunk(slot).head) emit(Work::receive_gradient, slot, list.back());
    if (!gathered_from_forward_) gather(slot, list.back());
    gathered_from_forward_ = false;
    for (std::size_t i = list.size(); i-- > 0;) {
      if (i > 0) gather(slot, list[i - 1]);
      for (const Step& step : block(list[i].block).backward) {
        emit(Work::compute, slot, list[i], &step);
      }
      release(slot, list[i]);
      if (program_.motion.reduces_each_block) emit(Work::reduce_gradients, slot, list[i]);
    }
    if (!chunk(slot).embedding) emit(Work::send_gradient, slot, list.front());
    emit(Work::end_micro_batch, slot, list.front());
  }

  void finish() {
    const auto for_each_block = [&](Work work) {
      for (const std::vector<BlockInstance>& list : instances_) {
        for (const BlockInstance& at : list) emit(work, kOnce, at);
      }
    };
    for_each_block(Work::sum_replicas);
    for_each_block(Work::sum_tied);
    if (!program_.motion.reduces_each_block) for_each_block(Work::reduce_all);
    const BlockInstance whole{};
    emit(Work::gradient_norm, kOnce, whole);
    emit(Work::clip, kOnce, whole);
    for_each_block(Work::optimize);
    if (program_.plan.zero == 1 || program_.plan.zero == 2) for_each_block(Work::gather_updated);
  }

  enum class Parameters : std::uint8_t { all, trained };

  // A tied head beside its embedding has no table of its own, but it makes the table's gradient.
  void for_each_parameter(Work work, Parameters which) {
    const bool beside_embedding = std::any_of(program_.chunks.begin(), program_.chunks.end(),
                                              [](const Chunk& chunk) { return chunk.embedding; });
    for (const std::vector<BlockInstance>& list : instances_) {
      for (const BlockInstance& at : list) {
        const std::vector<LocalParameter>& parameters = block(at.block).sharded.parameters;
        for (std::size_t p = 0; p < parameters.size(); ++p) {
          const model::BlockParameter& use = parameters[p].use;
          if (use.of_embedding && beside_embedding && work != Work::zero_state) continue;
          if (which == Parameters::trained && !use.trainable) continue;
          visit_({.work = work,
                  .direction = Direction::forward,
                  .block = at.block,
                  .layer = at.layer,
                  .parameter = static_cast<std::int16_t>(p)});
        }
      }
    }
  }

  static constexpr Slot kOnce{Direction::backward, StepInstance::kNone, StepInstance::kNone};

  const Program& program_;
  const ProgramBlocks& blocks_;
  const std::function<void(const StepInstance&)>& visit_;
  std::vector<Slot> slots_;
  std::vector<std::vector<BlockInstance>> instances_;
  bool gathered_from_forward_ = false;
};

}  // namespace

std::vector<BlockInstance> block_instances(const Chunk& chunk, const ProgramBlocks& blocks) {
  std::vector<BlockInstance> list;
  list.reserve(chunk.layer_blocks.size() + 2);
  if (chunk.embedding) list.push_back({blocks.embedding, StepInstance::kNone});
  for (std::size_t i = 0; i < chunk.layer_blocks.size(); ++i) {
    list.push_back({chunk.layer_blocks[i],
                    static_cast<std::int32_t>(chunk.first_layer + static_cast<std::int64_t>(i))});
  }
  if (chunk.head) list.push_back({blocks.head, StepInstance::kNone});
  return list;
}

void expand(const Program& program, const ProgramBlocks& blocks,
            const std::function<void(const StepInstance&)>& visit) {
  Expansion(program, blocks, visit).run();
}

}  // namespace fourhold::plan

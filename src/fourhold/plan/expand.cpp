#include "fourhold/plan/expand.h"

#include <algorithm>

namespace fourhold::plan {
namespace {

using model::Block;

class Expansion {
 public:
  Expansion(const Program& program, const ProgramBlocks& blocks,
            const std::function<void(const StepInstance&)>& visit)
      : program_(program), blocks_(blocks), visit_(visit) {
    for (const Chunk& chunk : program.chunks) instances_.push_back(block_instances(chunk, blocks));
  }

  void run() {
    for (std::size_t i = 0; i < program_.slots.size(); ++i) {
      const Slot& slot = program_.slots[i];
      if (slot.direction == Direction::forward) {
        forward(slot, backward_follows(i));
      } else {
        backward(slot);
      }
    }
    if (has_backward()) finish();
  }

 private:
  [[nodiscard]] const ProgramBlock& block(std::int16_t index) const {
    return blocks_.blocks[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const std::vector<BlockInstance>& instances(const Slot& slot) const {
    return instances_[static_cast<std::size_t>(slot.chunk)];
  }
  [[nodiscard]] const Chunk& chunk(const Slot& slot) const {
    return program_.chunks[static_cast<std::size_t>(slot.chunk)];
  }
  [[nodiscard]] bool has_backward() const {
    return std::any_of(program_.slots.begin(), program_.slots.end(),
                       [](const Slot& slot) { return slot.direction == Direction::backward; });
  }
  // The head's backward begins where its forward ends: its gathered weights stay.
  [[nodiscard]] bool backward_follows(std::size_t index) const {
    if (index + 1 >= program_.slots.size()) return false;
    const Slot& now = program_.slots[index];
    const Slot& next = program_.slots[index + 1];
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
    const Slot once{Direction::backward, StepInstance::kNone, StepInstance::kNone};
    const auto for_each_block = [&](Work work) {
      for (const std::vector<BlockInstance>& list : instances_) {
        for (const BlockInstance& at : list) emit(work, once, at);
      }
    };
    for_each_block(Work::sum_replicas);
    for_each_block(Work::sum_tied);
    if (!program_.motion.reduces_each_block) for_each_block(Work::reduce_all);
    const BlockInstance whole{};
    emit(Work::gradient_norm, once, whole);
    emit(Work::clip, once, whole);
    for_each_block(Work::optimize);
    if (program_.plan.zero == 1 || program_.plan.zero == 2) for_each_block(Work::gather_updated);
  }

  const Program& program_;
  const ProgramBlocks& blocks_;
  const std::function<void(const StepInstance&)>& visit_;
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

// The slots of weights, gradients and optimizer state while a program is walked.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "fourhold/engine/executor/tensor_slots.h"

namespace fourhold::engine {

class StateSlots {
 public:
  // Adds the state of every block of the program to `result`, and lists its parameters there.
  StateSlots(const plan::Program& program, const plan::ProgramBlocks& blocks, ProgramSlots& result);

  // Of a block instance, as they are at the step at work (the next to be added to the result).
  [[nodiscard]] const std::vector<ParameterSlots>& at(const plan::StepInstance& at) const {
    return state_.at({at.block, at.layer});
  }

  // The step at work gathers, releases, writes or reduces.
  void gather(const plan::StepInstance& at);
  void release(const plan::StepInstance& at);
  void write_gradient(const plan::StepInstance& at, std::size_t parameter);
  // What the block's whole gradients become once this step is over. One that forwards of other
  // micro-batches have added to (a chunked loss) waits for their backwards.
  void reduce(const plan::StepInstance& at);
  void finish_reduce(const plan::StepInstance& at);

 private:
  using Place = std::pair<std::int16_t, std::int32_t>;  // block, layer

  [[nodiscard]] const plan::ProgramBlock& block(std::int16_t index) const {
    return blocks_.blocks[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::int64_t now() const { return static_cast<std::int64_t>(result_.steps.size()); }
  [[nodiscard]] std::vector<ParameterSlots>& mine(const plan::StepInstance& at) {
    return state_.at({at.block, at.layer});
  }
  [[nodiscard]] const plan::LocalParameter& local(const plan::StepInstance& at,
                                                  std::size_t parameter) const {
    return block(at.block).sharded.parameters[parameter];
  }

  SlotId add(std::int16_t block_index, std::int32_t layer, const plan::LocalParameter& parameter,
             ledger::Role role);
  SlotId add_state_tensor(const plan::BlockInstance& at, const plan::LocalParameter& parameter,
                          const TensorSlot& like, std::int64_t elements);
  ParameterSlots add_parameter(const plan::BlockInstance& at, std::int16_t index);
  void link_tied_embedding();
  void list_parameters();
  void date(SlotId slot);

  const plan::Program& program_;
  const plan::ProgramBlocks& blocks_;
  ProgramSlots& result_;
  const bool shared_;  // one table for both ends of a tied embedding
  std::map<Place, std::vector<ParameterSlots>> state_;
  // Forwards whose whole gradient waits for its backward.
  std::map<std::pair<Place, std::size_t>, std::int64_t> forwards_open_;
};

}  // namespace fourhold::engine

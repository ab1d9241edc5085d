// One rank: runs the expanded list of its program, step by step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fourhold/plan/expand.h"
#include "tests/interpreter/block_store.h"
#include "tests/interpreter/call.h"
#include "tests/interpreter/parameter_state.h"

namespace fourhold::interpreter {

// Activations and gradients on their way between stages: {direction, lane in the stage, virtual
// stage they are for, micro-batch}.
using Mail = std::map<std::tuple<plan::Direction, std::int64_t, std::int64_t, std::int64_t>, Array>;

class Rank {
 public:
  Rank(const Setting& setting, const plan::ProgramBlocks& blocks, const plan::Program& program,
       const std::vector<plan::StepInstance>& steps, std::int64_t rank, Meetings& meetings,
       Mail& mail, const ParameterValues& values);

  [[nodiscard]] bool done() const { return cursor_ == steps_.size(); }
  // Runs the next step; false while it must wait for others. Throws ProgramFault with the place.
  bool advance();
  // Where this rank stands, for messages.
  [[nodiscard]] std::string where() const;

  // Throws ProgramFault when activations, gathered weights or unreduced gradients are left over.
  void check_at_rest() const;
  // Of this rank's own tokens; and after reduce_loss, of all ranks'.
  [[nodiscard]] double own_loss() const { return own_loss_; }
  [[nodiscard]] double loss() const { return loss_; }
  [[nodiscard]] const ParameterState& parameters() const { return parameters_; }

 private:
  using InstanceKey = std::tuple<std::int16_t, std::int32_t, std::int32_t>;  // block, layer, mb
  // The i-th block of a chunk at one micro-batch.
  struct Position {
    std::size_t chunk = 0;
    std::size_t index = 0;
    std::int32_t micro_batch = 0;
  };

  void perform(const plan::StepInstance& at);
  void compute(const plan::StepInstance& at);
  [[nodiscard]] Call call_for(const plan::StepInstance& at, const BlockStore& store);
  void store_forward(const Call& call, const Results& results, BlockStore& store);
  void store_backward(const Call& call, const Results& results, BlockStore& store);
  void add_parameter_gradients(const plan::StepInstance& at, const Call& call,
                               const Results& results);
  void count_tokens();
  void reduce_loss();
  void load(const plan::StepInstance& at, model::TensorName name);
  void send(const plan::StepInstance& at);
  void receive(const plan::StepInstance& at);
  void end_micro_batch(const plan::StepInstance& at) const;

  // A block gets what enters it; one without steps passes it on at once.
  void enter_forward(const Position& at, const Array& input);
  void leave_forward(const Position& at);
  void enter_backward(const Position& at, const Array& output_gradient);
  void leave_backward(const Position& at);
  // A head without backward steps has made its gradient in forward: hands it to the block before.
  void finish_later_blocks(const Position& at);

  [[nodiscard]] Position position(const plan::StepInstance& at) const;
  [[nodiscard]] const plan::BlockInstance& instance(const Position& at) const {
    return lists_[at.chunk][at.index];
  }
  [[nodiscard]] const plan::ProgramBlock& block(const Position& at) const {
    return blocks_.blocks[static_cast<std::size_t>(instance(at).block)];
  }
  [[nodiscard]] InstanceKey key(const Position& at) const {
    return {instance(at).block, instance(at).layer, at.micro_batch};
  }
  [[nodiscard]] BlockStore& store(const Position& at);
  [[nodiscard]] std::int64_t lane() const;
  [[nodiscard]] std::int64_t virtual_stage(const plan::StepInstance& at) const;

  const Setting& setting_;
  const plan::ProgramBlocks& blocks_;
  const plan::Program& program_;
  const std::vector<plan::StepInstance>& steps_;
  std::int64_t rank_;
  Door door_;
  Mail& mail_;
  ParameterState parameters_;
  std::vector<std::vector<plan::BlockInstance>> lists_;  // by chunk
  std::map<InstanceKey, BlockStore> stores_;
  std::map<std::tuple<plan::Direction, std::size_t, std::int32_t>, Array> leaving_;  // by chunk
  std::size_t cursor_ = 0;
  double valid_tokens_ = 0;  // of the global batch; 0 before they are counted
  double own_loss_ = 0;
  double loss_ = 0;
};

}  // namespace fourhold::interpreter

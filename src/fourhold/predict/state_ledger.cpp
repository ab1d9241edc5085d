#include "fourhold/predict/state_ledger.h"

#include <vector>

#include "fourhold/ledger/timeline.h"
#include "fourhold/plan/expand.h"
#include "fourhold/predict/expanded_entries.h"
#include "fourhold/predict/stage_model.h"
#include "fourhold/predict/state_pieces.h"

namespace fourhold::predict {
namespace {

using ledger::Category;
using ledger::Entry;
using plan::StepInstance;
using plan::Work;

class StateExpander {
 public:
  StateExpander(const plan::ProgramBlocks& blocks, const StageModel& stage)
      : blocks_(blocks),
        stage_(stage),
        entries_(blocks),
        gradients_last_(stage.input().walk.gradient_lifetime ==
                        plan::GradientLifetime::persistent) {}

  ledger::Ledger run(const plan::Program& program) {
    if (program.kind == plan::ProgramKind::save) add_all_state(program);
    plan::expand(program, blocks_, [&](const StepInstance& at) {
      visit(at);
      entries_.next_step();
    });
    ledger::Ledger ledger;
    if (entries_.now() == 0) return ledger;  // nothing to do
    for (const std::int32_t entry : state_) entries_.at(entry).last_step = entries_.now() - 1;
    ledger.entries = entries_.take();
    ledger::mark_peak(ledger);
    return ledger;
  }

 private:
  [[nodiscard]] const ParameterState& state(const StepInstance& at) const {
    return (*stage_.input().walk.states)[static_cast<std::size_t>(at.block)]
        .parameters[static_cast<std::size_t>(at.parameter)];
  }

  // Lives to the end of the program.
  void add_state(const StepInstance& at, const ResidentTensor& tensor) {
    state_.push_back(entries_.add_resident(at, static_cast<std::size_t>(at.parameter), tensor));
  }
  void add_state(const StepInstance& at, Work maker) {
    for (const ResidentTensor& tensor : state(at).resident) {
      if (maker_of(tensor) == maker) add_state(at, tensor);
    }
  }
  void add_gradient(const StepInstance& at) {
    if (gradients_last_ && state(at).gradient.elements > 0) add_state(at, state(at).gradient);
  }

  void add_piece(const StepInstance& at, std::int64_t bytes) {
    const std::int32_t index =
        entries_.add_parameter(at, static_cast<std::size_t>(at.parameter), ledger::Role::buffer);
    Entry& entry = entries_.at(index);
    entry.shape = Dims{bytes};
    entry.dtype = DType::uint8;
    entry.bytes = Bytes(bytes);
    entry.category = Category::scratch;
    entry.place = weight_place(state(at));
  }

  void visit(const StepInstance& at) {
    switch (at.work) {
      case Work::fill_weight:
        add_piece(at, fill_piece_bytes(state(at)));
        return add_state(at, Work::fill_weight);
      case Work::zero_state:
        add_state(at, Work::zero_state);
        return add_gradient(at);
      case Work::write_state:
        return add_piece(at, write_piece_bytes(state(at)));
      default:
        return;  // of the programs that train and evaluate
    }
  }

  // What is there before the program begins.
  void add_all_state(const plan::Program& program) {
    for (const plan::Chunk& chunk : program.chunks) {
      for (const plan::BlockInstance& block : plan::block_instances(chunk, blocks_)) {
        StepInstance at{.block = block.block, .layer = block.layer};
        const std::size_t count =
            (*stage_.input().walk.states)[static_cast<std::size_t>(block.block)].parameters.size();
        for (std::size_t p = 0; p < count; ++p) {
          at.parameter = static_cast<std::int16_t>(p);
          add_state(at, Work::fill_weight);
          add_state(at, Work::zero_state);
          add_gradient(at);
        }
      }
    }
  }

  const plan::ProgramBlocks& blocks_;
  const StageModel& stage_;
  ExpandedEntries entries_;
  const bool gradients_last_;
  std::vector<std::int32_t> state_;  // entries that live to the end
};

ledger::Ledger ledger_of(const model::ModelConfig& config, const plan::Plan& plan,
                         const plan::Profile& profile, std::int64_t stage, plan::ProgramKind kind) {
  const plan::ProgramBlocks blocks = plan::lower_blocks(config, plan, profile);
  std::vector<BlockLifetimes> lifetimes;
  for (const plan::ProgramBlock& block : blocks.blocks) lifetimes.push_back(block_lifetimes(block));
  const StageModel model(config, blocks, lifetimes, plan, profile, stage);
  return StateExpander(blocks, model).run(plan::lower(config, blocks, plan, profile, stage, kind));
}

}  // namespace

ledger::Ledger start_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                            const plan::Profile& profile, std::int64_t stage) {
  return ledger_of(config, plan, profile, stage, plan::ProgramKind::start);
}

ledger::Ledger save_ledger(const model::ModelConfig& config, const plan::Plan& plan,
                           const plan::Profile& profile, std::int64_t stage) {
  return ledger_of(config, plan, profile, stage, plan::ProgramKind::save);
}

}  // namespace fourhold::predict

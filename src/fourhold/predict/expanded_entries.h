// The entries of an expanded ledger while it is written: named after the tensors of a program, each
// alive from the step that made it to the last that used it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "fourhold/ledger/ledger.h"
#include "fourhold/plan/expand.h"
#include "fourhold/predict/stage_ledger.h"

namespace fourhold::predict {

// Whether a communication stream works on the tensor. The attention around a ring writes its result
// on its own stream.
[[nodiscard]] constexpr bool travels(const plan::OperationCollective& collective,
                                     const plan::Access& access) {
  switch (collective.kind) {
    case plan::Collective::none:
    case plan::Collective::reduce_scalars:
      return false;
    case plan::Collective::ring:
      return access.mode == plan::AccessMode::read;
    default:
      return true;
  }
}

// Whether tensor parallelism makes whole in it what sequence parallelism split.
[[nodiscard]] constexpr bool gathers(const plan::OperationCollective& collective,
                                     const plan::Access& access) {
  return collective.kind == plan::Collective::all_gather && collective.axis == plan::Axis::tp &&
         access.mode == plan::AccessMode::write;
}

// Room for the state of a stage and, per micro-batch, for every storage in each direction it is
// made in: at least as many entries as a step has.
[[nodiscard]] std::int64_t most_entries(const plan::ProgramBlocks& blocks,
                                        const StageLedgerInput& input, std::int64_t micro_batches);

class ExpandedEntries {
 public:
  static constexpr std::int32_t kNone = -1;  // no entry

  explicit ExpandedEntries(const plan::ProgramBlocks& blocks) : blocks_(&blocks) {}

  // What is added from now on is of other blocks: the next program of several in one ledger.
  void enter(const plan::ProgramBlocks& blocks) { blocks_ = &blocks; }

  // Growing a list of entries costs more than making them.
  void reserve(std::int64_t count) { list_.reserve(static_cast<std::size_t>(count)); }

  [[nodiscard]] std::int64_t now() const { return now_; }  // the step at work
  void next_step() { ++now_; }

  [[nodiscard]] ledger::Entry& at(std::int32_t entry) {
    return list_[static_cast<std::size_t>(entry)];
  }
  // Alive at the step at work too; nothing for kNone.
  void use(std::int32_t entry) {
    if (entry != kNone) at(entry).last_step = now_;
  }
  // Alive in all steps so far, that at work not included.
  void use_throughout(std::int32_t entry);

  // A tensor of the block that `where` is of, by its owning tensor.
  std::int32_t add_tensor(const plan::StepInstance& where, std::int16_t owner);
  // The entry goes by the name of a tensor of the block that `where` is of, and has its category.
  void rename(std::int32_t entry, const plan::StepInstance& where, std::int16_t owner);
  // A whole local parameter in another role; type, bytes and category are the caller's to set.
  std::int32_t add_parameter(const plan::StepInstance& where, std::size_t parameter,
                             ledger::Role role);
  // A part of a parameter's state; a slice of a sharded tensor is flat.
  std::int32_t add_resident(const plan::StepInstance& where, std::size_t parameter,
                            const ResidentTensor& tensor);
  // One copy of a tensor of the stage; copies are numbered in the place of layers.
  std::int32_t add_stage_tensor(const StageTensor& tensor, std::int64_t copy);

  [[nodiscard]] std::vector<ledger::Entry> take() { return std::move(list_); }

 private:
  std::int32_t add(std::string_view block, std::string_view name, std::string_view variant,
                   ledger::Role role);
  [[nodiscard]] const plan::ProgramBlock& block(const plan::StepInstance& where) const {
    return blocks_->blocks[static_cast<std::size_t>(where.block)];
  }

  const plan::ProgramBlocks* blocks_;
  std::vector<ledger::Entry> list_;
  std::int64_t now_ = 0;
};

}  // namespace fourhold::predict

// The slots of a program in the arena: each at the entry of its name that is alive when it is first
// used; and, in test runs, the guards and the poison that watch over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fourhold/engine/arena/ledger_arena.h"
#include "fourhold/engine/executor/recorder.h"
#include "fourhold/engine/executor/tensor_slots.h"
#include "fourhold/engine/tensor/tensor.h"

namespace fourhold::engine {

using SlotOperand = std::pair<SlotId, Tensor>;

class SlotBinding {
 public:
  // Both must outlive this. Throws std::logic_error where the ledger lacks a slot's entry or has it
  // in another size: the prediction is wrong.
  SlotBinding(const std::vector<TensorSlot>& slots, LedgerArena& arena);

  // As its owner sees it; without data for kNoSlot.
  [[nodiscard]] Tensor tensor_of(SlotId slot) const {
    return slot == kNoSlot ? Tensor{} : tensors_[static_cast<std::size_t>(slot)];
  }

  // Poisons slots that come alive, and puts guards around them.
  void watch(std::span<const SlotId> born);
  // Throws std::logic_error naming the slot where a step wrote outside what is watched, or left
  // part of what it was to write as it was.
  void check(std::span<const SlotOperand> operands, std::span<const SlotOperand> written) const;

  // What a recorder has seen, with the highest byte touched as the reserved bytes.
  [[nodiscard]] ledger::Ledger measured(const Recorder& recorder, std::int64_t steps) const;
  // Where each of its entries lies: bytes from the arena's first to that which kernels were given.
  [[nodiscard]] std::vector<std::int64_t> measured_offsets(const Recorder& recorder) const;

 private:
  const std::vector<TensorSlot>& slots_;
  LedgerArena& arena_;
  std::vector<Tensor> tensors_;
  std::vector<std::size_t> entries_;  // in the arena's ledger
  std::vector<bool> watched_;
};

}  // namespace fourhold::engine

#include "fourhold/engine/executor/slot_binding.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "fourhold/engine/arena/guards.h"

namespace fourhold::engine {
namespace {

[[noreturn]] void wrong_prediction(const TensorSlot& slot, const std::string& fault) {
  throw std::logic_error("the ledger has no place for " + ledger::to_string(slot.key) + ": " +
                         fault);
}

[[noreturn]] void fault_at(const TensorSlot& slot, const std::string& what) {
  throw std::logic_error(ledger::to_string(slot.key) + ": " + what);
}

}  // namespace

SlotBinding::SlotBinding(const std::vector<TensorSlot>& slots, LedgerArena& arena)
    : slots_(slots), arena_(arena), watched_(slots.size(), false) {
  for (const TensorSlot& slot : slots) {
    const auto entry = arena.find(slot.key, slot.is_state() ? 0 : slot.first_step);
    if (!entry) wrong_prediction(slot, "no entry of that name is alive when it is first used");
    const std::span<std::byte> bytes = arena.bytes_of(*entry);
    const Tensor tensor{bytes.data(), slot.dtype, slot.dims};
    if (tensor.bytes() != static_cast<std::int64_t>(bytes.size())) {
      wrong_prediction(slot, "the operand has " + std::to_string(tensor.bytes()) +
                                 " bytes, the entry " + std::to_string(bytes.size()));
    }
    entries_.push_back(*entry);
    tensors_.push_back(tensor);
  }
}

void SlotBinding::watch(std::span<const SlotId> born) {
  for (const SlotId slot : born) {
    const Tensor own = tensor_of(slot);
    poison({own.data, static_cast<std::size_t>(own.bytes())});
    fill_guards(arena_, entries_[static_cast<std::size_t>(slot)]);
    watched_[static_cast<std::size_t>(slot)] = true;
  }
}

void SlotBinding::check(std::span<const SlotOperand> operands,
                        std::span<const SlotOperand> written) const {
  for (const auto& [slot, operand] : operands) {
    const auto at = static_cast<std::size_t>(slot);
    if (!watched_[at]) continue;
    if (const auto byte = changed_guard(arena_, entries_[at])) {
      fault_at(slots_[at], "a step wrote outside it, at byte " + std::to_string(*byte));
    }
  }
  for (const auto& [slot, operand] : written) {
    const auto left = poison_left({operand.data, static_cast<std::size_t>(operand.bytes())},
                                  bytes_of(1, operand.dtype));
    if (left) {
      fault_at(slots_[static_cast<std::size_t>(slot)],
               "a step that writes it left byte " + std::to_string(*left) + " as it was");
    }
  }
}

ledger::Ledger SlotBinding::measured(const Recorder& recorder, std::int64_t steps) const {
  ledger::Ledger measured = recorder.ledger(slots_, steps);
  const std::vector<std::int64_t> offsets = measured_offsets(recorder);
  std::int64_t highest = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    highest = std::max(highest, offsets[i] + measured.entries[i].bytes.count());
  }
  measured.reserved_bytes = Bytes(highest);
  return measured;
}

std::vector<std::int64_t> SlotBinding::measured_offsets(const Recorder& recorder) const {
  const std::byte* const first = arena_.arena().at(0);
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    if (recorder.touched(slot)) offsets.push_back(recorder.begin(slot) - first);
  }
  return offsets;
}

}  // namespace fourhold::engine

#include "fourhold/engine/executor/recorder.h"

#include "fourhold/ledger/timeline.h"

namespace fourhold::engine {

ledger::Ledger Recorder::ledger(const std::vector<TensorSlot>& slots, std::int64_t steps) const {
  ledger::Ledger measured;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Touch& touch = touches_[i];
    if (touch.first_step < 0) continue;
    ledger::Entry entry;
    entry.key = slots[i].key;
    entry.category = slots[i].category;
    entry.dtype = touch.dtype;
    entry.shape = touch.dims;
    entry.bytes = Bytes(touch.bytes);
    entry.first_step = slots[i].is_state() ? 0 : touch.first_step;
    entry.last_step = slots[i].is_state() ? steps - 1 : touch.last_step;
    measured.entries.push_back(entry);
  }
  ledger::mark_peak(measured);
  return measured;
}

}  // namespace fourhold::engine

// What a run really touches: the measured side of "predicted bytes are the bytes used".
#pragma once

#include <cstdint>
#include <vector>

#include "fourhold/engine/executor/tensor_slots.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/ledger/ledger.h"

namespace fourhold::engine {

// Takes every operand as it is handed to a kernel: its type and shape are the operand's own, its
// first and last step those of the run. Steps count as in the program the arena was laid out for.
class Recorder {
 public:
  explicit Recorder(std::size_t slots) : touches_(slots) {}

  void touch(SlotId slot, const Tensor& operand, std::int64_t step) {
    Touch& own = touches_[static_cast<std::size_t>(slot)];
    if (own.first_step < 0) {
      own.first_step = step;
      own.dtype = operand.dtype;
      own.dims = operand.dims;
    }
    if (step > own.last_step) own.last_step = step;
    const std::int64_t bytes = operand.bytes();
    if (bytes > own.bytes) own.bytes = bytes;
  }

  [[nodiscard]] bool touched(SlotId slot) const {
    return touches_[static_cast<std::size_t>(slot)].first_step >= 0;
  }
  [[nodiscard]] std::int64_t bytes(SlotId slot) const {
    return touches_[static_cast<std::size_t>(slot)].bytes;
  }

  // One entry per touched slot. State (weights, master copies, moments) is alive in all of the
  // `steps`: it was there before the first and is there after the last.
  [[nodiscard]] ledger::Ledger ledger(const std::vector<TensorSlot>& slots,
                                      std::int64_t steps) const;

 private:
  struct Touch {
    std::int64_t first_step = -1;
    std::int64_t last_step = -1;
    std::int64_t bytes = 0;
    DType dtype = DType::fp32;
    Dims dims;
  };
  std::vector<Touch> touches_;
};

}  // namespace fourhold::engine

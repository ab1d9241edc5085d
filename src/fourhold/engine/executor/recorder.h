// What a run really touches: the measured side of "predicted bytes are the bytes used".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/engine/executor/tensor_slots.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/model/operations.h"
#include "fourhold/plan/program.h"

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
      own.begin = operand.data;
    }
    if (step > own.last_step) own.last_step = step;
    const std::int64_t bytes = operand.bytes();
    if (bytes > own.bytes) own.bytes = bytes;
  }

  void called(model::OpKind kind, plan::Phase phase) { ++calls_[place_of(kind, phase)]; }
  [[nodiscard]] std::int64_t calls(model::OpKind kind, plan::Phase phase) const {
    return calls_[place_of(kind, phase)];
  }

  [[nodiscard]] bool touched(SlotId slot) const {
    return touches_[static_cast<std::size_t>(slot)].first_step >= 0;
  }
  // Its first byte, as the first kernel that touched it was given it.
  [[nodiscard]] const std::byte* begin(SlotId slot) const {
    return touches_[static_cast<std::size_t>(slot)].begin;
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
    const std::byte* begin = nullptr;
    DType dtype = DType::fp32;
    Dims dims;
  };
  static constexpr std::size_t kPhases = static_cast<std::size_t>(plan::Phase::backward) + 1;
  static constexpr std::size_t kKinds =
      static_cast<std::size_t>(model::OpKind::exchange_experts) + 1;
  [[nodiscard]] static std::size_t place_of(model::OpKind kind, plan::Phase phase) {
    return static_cast<std::size_t>(kind) * kPhases + static_cast<std::size_t>(phase);
  }

  std::vector<Touch> touches_;
  std::array<std::int64_t, kKinds * kPhases> calls_{};
};

}  // namespace fourhold::engine

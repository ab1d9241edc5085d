// What a block's products alone read again in backward: where products are in fp8 it may be kept in
// that format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourhold/model/operations.h"

namespace fourhold::plan {

// True at the tensors that own such storages: 16-bit results of norms and activations, whatever the
// recompute policy. An attention core saves its result for itself too.
[[nodiscard]] inline std::vector<std::uint8_t> product_operands(
    const model::BlockOperations& block) {
  std::vector<std::uint8_t> operand(block.tensors.size(), 0);
  std::vector<std::uint8_t> other(block.tensors.size(), 0);
  for (const model::Operation& op : block.operations) {
    for (const model::TensorId id : op.saved) {
      const auto owner = static_cast<std::size_t>(model::storage_of(block, id));
      (op.kind == model::OpKind::linear ? operand : other)[owner] = 1;
    }
  }
  for (std::size_t i = 0; i < operand.size(); ++i) {
    if (other[i] != 0 || block.tensors[i].dtype == DType::fp32) operand[i] = 0;
  }
  return operand;
}

}  // namespace fourhold::plan

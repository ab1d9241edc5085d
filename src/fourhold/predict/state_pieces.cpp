#include "fourhold/predict/state_pieces.h"

#include <algorithm>

namespace fourhold::predict {

using ledger::Category;

plan::Work maker_of(const ResidentTensor& tensor) {
  const bool value =
      tensor.category == Category::weight || tensor.category == Category::master_weight;
  return value ? plan::Work::fill_weight : plan::Work::zero_state;
}

ledger::Place weight_place(const ParameterState& state) { return state.resident[0].place; }

std::int64_t fill_piece_bytes(const ParameterState& state) {
  return std::min(bytes_of(state.resident[0].elements, DType::fp32), kMostPieceBytes);
}

std::int64_t write_piece_bytes(const ParameterState& state) {
  std::int64_t most = 0;
  for (const ResidentTensor& tensor : state.resident) {
    const bool weight = tensor.category == Category::weight;
    const std::int64_t elements =
        weight ? std::min(tensor.elements, state.owned_elements) : tensor.elements;
    most = std::max(most, bytes_of(elements, tensor.dtype));
  }
  return std::min(most, kMostPieceBytes);
}

}  // namespace fourhold::predict

#include "fourhold/predict/start_peak.h"

#include <algorithm>

#include "fourhold/predict/state_pieces.h"

namespace fourhold::predict {
namespace {

// Device bytes that the weights of a block bring, and the most there are while they come.
struct Filling {
  std::int64_t bytes = 0;
  std::int64_t peak_bytes = 0;
};

Filling filling_of(const BlockState& block) {
  Filling filling;
  for (const ParameterState& parameter : block.parameters) {
    if (parameter.elsewhere) continue;
    for (const ResidentTensor& tensor : parameter.resident) {
      const bool on_device = tensor.place == ledger::Place::device;
      if (on_device && maker_of(tensor) == plan::Work::fill_weight) {
        filling.bytes += tensor.bytes();
      }
    }
    const bool piece_on_device = weight_place(parameter) == ledger::Place::device;
    const std::int64_t piece = piece_on_device ? fill_piece_bytes(parameter) : 0;
    filling.peak_bytes = std::max(filling.peak_bytes, filling.bytes + piece);
  }
  return filling;
}

}  // namespace

std::int64_t start_peak_bytes(const StageModel& stage) {
  const WalkInput& walk = stage.input().walk;
  std::int64_t held = 0;
  std::int64_t peak = 0;
  const auto fill = [&](std::int16_t block, std::int64_t count) {
    const Filling each = filling_of((*walk.states)[static_cast<std::size_t>(block)]);
    peak = std::max(peak, held + (count - 1) * each.bytes + each.peak_bytes);
    held += count * each.bytes;
  };
  for (const plan::Chunk& chunk : stage.program().chunks) {
    if (chunk.embedding) fill(walk.blocks->embedding, 1);
    const std::vector<std::int16_t>& layers = chunk.layer_blocks;
    for (auto first = layers.begin(); first != layers.end();) {
      const auto end = std::find_if(first, layers.end(),
                                    [first](std::int16_t block) { return block != *first; });
      fill(*first, end - first);
      first = end;
    }
    if (chunk.head) fill(walk.blocks->head, 1);
  }
  // All moments, and the gradients that last, are there in the end.
  const bool gradients_last = walk.gradient_lifetime == plan::GradientLifetime::persistent;
  return std::max(
      peak, stage.totals().resident_bytes + (gradients_last ? stage.totals().gradient_bytes : 0));
}

}  // namespace fourhold::predict

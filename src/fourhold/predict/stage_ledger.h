// The compact ledger of one stage, from its walk: one entry per kind of tensor, with how many there
// are and how many of them the peak holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fourhold/ledger/ledger.h"
#include "fourhold/predict/stage_walk.h"

namespace fourhold::predict {

// When a tensor of the stage is alive.
enum class Alive : std::uint8_t {
  whole_step,
  count_to_loss,  // from the first step to the reduction of the loss, over all micro-batches
  norm_to_clip,
  optimizer,  // while parameters are updated
};
inline constexpr std::size_t kAliveCount = 4;

// A tensor of the stage that belongs to no block.
struct StageTensor {
  std::string_view name{};
  ledger::Role role = ledger::Role::buffer;
  ledger::Category category = ledger::Category::communication;
  ledger::Place place = ledger::Place::device;
  DType dtype = DType::bf16;
  std::int64_t elements = 0;
  std::int64_t copies = 1;
  Alive alive = Alive::whole_step;
  bool grows_with_batch = false;  // as many times as large with as many sequences
};

struct StageLedgerInput {
  WalkInput walk;
  std::vector<std::int64_t> instances;    // per block: how many the stage has
  std::vector<std::int64_t> first_layer;  // per block: global layer of its first instance, -1 none
  std::vector<StageTensor> tensors;
};

[[nodiscard]] ledger::Ledger stage_ledger(const StageLedgerInput& input, const StageWalk& walk);

}  // namespace fourhold::predict

#include "fourhold/plan/schedule.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace fourhold::plan {
namespace {

// Forwards a stage runs before its first backward.
std::int64_t warm_up(ScheduleKind kind, std::int64_t pp, std::int64_t stage, std::int64_t vpp,
                     std::int64_t micro_batches) {
  const std::int64_t all = micro_batches * vpp;
  switch (kind) {
    case ScheduleKind::gpipe:
      return all;
    case ScheduleKind::one_f_one_b:
      return std::min(all, pp - stage - 1);
    case ScheduleKind::interleaved:
      return std::min(all, 2 * (pp - stage - 1) + (vpp - 1) * pp);
  }
  return all;
}

// The k-th forward of a stage, or its k-th backward: those take the chunks in reverse. Interleaved
// runs pp micro-batches through a chunk before it turns to the next chunk; the others run them all.
Slot slot_of(Direction direction, std::int64_t k, std::int64_t per_chunk, std::int64_t vpp) {
  const std::int64_t round = per_chunk * vpp;
  const std::int64_t chunk = k % round / per_chunk;
  return {
      .direction = direction,
      .chunk = static_cast<std::int32_t>(direction == Direction::forward ? chunk : vpp - 1 - chunk),
      .micro_batch = static_cast<std::int32_t>(k / round * per_chunk + k % per_chunk)};
}

}  // namespace

std::vector<SlotRun> stage_runs(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                                std::int64_t vpp, std::int64_t micro_batches) {
  assert(stage >= 0 && stage < pp && micro_batches >= 1 && "a stage of a schedule with work");
  assert((kind != ScheduleKind::one_f_one_b || vpp == 1) && "1F1B has one chunk per stage");
  assert((kind != ScheduleKind::interleaved || micro_batches % pp == 0) &&
         "interleaving needs a multiple of the stages");
  const std::int64_t all = micro_batches * vpp;
  const std::int64_t ahead = warm_up(kind, pp, stage, vpp, micro_batches);
  const std::int64_t per_chunk = kind == ScheduleKind::interleaved ? pp : micro_batches;
  std::vector<SlotRun> runs;
  for (std::int64_t k = 0; k < all + ahead;) {
    SlotRun run;
    std::int64_t end = k < ahead ? ahead : all + ahead;
    if (k < all) {
      run.forward = slot_of(Direction::forward, k, per_chunk, vpp);
      end = std::min(end, (k / per_chunk + 1) * per_chunk);
    }
    if (k >= ahead) {
      run.backward = slot_of(Direction::backward, k - ahead, per_chunk, vpp);
      end = std::min(end, ahead + ((k - ahead) / per_chunk + 1) * per_chunk);
    }
    run.turns = end - k;
    runs.push_back(run);
    k = end;
  }
  return runs;
}

std::vector<Slot> stage_slots(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                              std::int64_t vpp, std::int64_t micro_batches) {
  std::vector<Slot> slots;
  slots.reserve(static_cast<std::size_t>(2 * micro_batches * vpp));
  for (SlotRun& run : stage_runs(kind, pp, stage, vpp, micro_batches)) {
    for (std::int64_t turn = 0; turn < run.turns; ++turn) {
      for (std::optional<Slot>* slot : {&run.forward, &run.backward}) {
        if (!slot->has_value()) continue;
        slots.push_back(**slot);
        ++(*slot)->micro_batch;
      }
    }
  }
  return slots;
}

std::int64_t chunks_in_flight(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                              std::int64_t vpp, std::int64_t micro_batches) {
  // One more than the warm-up: the steady phase runs a forward before each backward.
  return std::min(micro_batches * vpp, warm_up(kind, pp, stage, vpp, micro_batches) + 1);
}

}  // namespace fourhold::plan

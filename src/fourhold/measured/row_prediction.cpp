#include "fourhold/measured/row_prediction.h"

#include "fourhold/base/error.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/time.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::measured {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

const predict::StageMemory& measured_stage(const predict::MemoryPrediction& memory,
                                           MeasuredStage stage) {
  switch (stage) {
    case MeasuredStage::first:
      return memory.stages.front();
    case MeasuredStage::last:
      return memory.stages.back();
    case MeasuredStage::fullest:
      return memory.worst();
  }
  return memory.worst();
}

// Where even the emptied cache is not enough, what the run would reserve on a larger device.
double replayed_gib(const RowSetup& setup, std::int64_t stage) {
  const std::int64_t capacity = setup.cluster.device.usable.count() - setup.profile.runtime_bytes;
  predict::AllocatorPrediction replay =
      predict::replay_stage(setup.config, setup.plan, setup.profile, stage, capacity);
  if (replay.out_of_memory) {
    replay = predict::replay_stage(setup.config, setup.plan, setup.profile, stage);
  }
  return static_cast<double>(replay.reserved_peak_bytes.back()) / kGib;
}

double gib(Bytes bytes) { return static_cast<double>(bytes.count()) / kGib; }

}  // namespace

RowPrediction predict_row(const RowSetup& setup, double margin, Reserved reserved) {
  const predict::MemoryPrediction memory =
      predict::predict_memory(setup.config, setup.plan, setup.profile, predict::WithLedger::no);
  const predict::StageMemory& stage = measured_stage(memory, setup.stage);
  RowPrediction prediction;
  prediction.allocated_gib = gib(stage.ledger.live_peak_bytes);
  // Without a replay the reservation is that of the fullest stage: others hold the same share more.
  const double reserved_share = memory.allocated_bytes == Bytes(0)
                                    ? 1
                                    : gib(memory.reserved_bytes) / gib(memory.allocated_bytes);
  prediction.reserved_gib = prediction.allocated_gib * reserved_share;
  if (reserved == Reserved::replayed && setup.profile.reservation == plan::Reservation::allocator) {
    prediction.reserved_gib = replayed_gib(setup, stage.stage);
  }
  prediction.device_gib =
      prediction.reserved_gib + gib(memory.device_bytes - memory.reserved_bytes);
  prediction.needed_gib = gib(memory.needed_bytes);
  prediction.usable_gib = gib(setup.cluster.device.usable);
  const predict::Capacity capacity{.usable_bytes = setup.cluster.device.usable,
                                   .devices_per_node = setup.cluster.devices_per_node,
                                   .headroom = margin};
  prediction.fits = predict::shortfall_of(memory, capacity).none();
  try {
    prediction.step_seconds =
        predict::predict_time(setup.config, setup.plan, setup.profile, setup.cluster).step_seconds;
  } catch (const Error& error) {
    prediction.why_no_time = error.where() + " " + error.what();
  }
  return prediction;
}

}  // namespace fourhold::measured

#include "fourhold/measured/comparison.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/measured/row_prediction.h"
#include "fourhold/measured/row_setup.h"
#include "fourhold/measured/step_seconds.h"
#include "fourhold/predict/time.h"

namespace fourhold::measured {
namespace {

// Sources whose figure is of the whole process or of a kind they do not state: the device's.
bool states_process_memory(const MeasuredRow& row) {
  for (const std::string_view family : {"bigsci", "internevo", "qwen", "paper"}) {
    if (row.family() == family) return true;
  }
  return false;
}

// Published figures that are whole GB of 10^9 bytes, which stand in the column of GiB as they are.
// The source does not say which GB it means; its rows agree best among themselves with this one.
std::optional<double> reserved_gib(const MeasuredRow& row) {
  constexpr double kGbPerGib = 1.073741824;
  if (!row.peak_mem_gib_reserved || !row.says("memory unit as published 'GB'")) {
    return row.peak_mem_gib_reserved;
  }
  return *row.peak_mem_gib_reserved / kGbPerGib;
}

void add(RowResult& result, Metric metric, double predicted, std::optional<double> measured,
         std::string_view set_apart) {
  if (!measured || *measured <= 0) return;
  result.comparisons.push_back({.metric = metric,
                                .predicted = predicted,
                                .measured = *measured,
                                .set_apart = std::string(set_apart)});
}

}  // namespace

RowResult compare_row(const MeasuredRow& row, const Exclusions& exclusions, Catalogue& catalogue,
                      double margin) {
  RowResult result;
  result.id = row.id;
  result.source = row.family();
  result.sweep = fmt::format("{}, {} {}, sequence {}", row.model, row.num_gpus.value_or(0), row.gpu,
                             row.seq_len.value_or(0));
  result.model = row.model;
  result.has_experts = row.experts.has_value();
  RowReading reading = setup_of(row, catalogue);
  result.assumed = std::move(reading.assumed);
  result.skipped = std::move(reading.skipped);
  if (!reading.setup) return result;
  const RowSetup& setup = *reading.setup;
  result.stalls = predict::layer_floor_seconds(setup.plan, setup.profile, setup.cluster) > 0;
  RowPrediction prediction;
  try {
    prediction = predict_row(setup, margin,
                             row.peak_mem_gib_reserved ? Reserved::replayed : Reserved::as_needed);
  } catch (const Error& error) {
    result.skipped = fmt::format("{} {}", error.where(), error.what());
    return result;
  }
  result.profile = setup.profile.name;
  result.device = setup.cluster.device.name;
  result.generation = setup.cluster.device.generation;
  result.needed_gib = prediction.needed_gib;
  result.usable_gib = prediction.usable_gib;
  result.sequences = static_cast<double>(setup.plan.global_batch);
  const std::string_view memory_apart = exclusions.reason(row, Aspect::memory);
  add(result, Metric::memory_allocated, prediction.allocated_gib, row.peak_mem_gib_allocated,
      memory_apart);
  add(result, Metric::memory_reserved,
      states_process_memory(row) ? prediction.device_gib : prediction.reserved_gib,
      reserved_gib(row), memory_apart);
  if (prediction.step_seconds) {
    add(result, Metric::step_time, *prediction.step_seconds, measured_step_seconds(row, setup),
        exclusions.reason(row, Aspect::step_time));
  } else {
    result.assumed.push_back("time is not predicted: " + prediction.why_no_time);
  }
  if (row.oom) {
    result.measured_fit = !*row.oom;
    result.predicted_fit = prediction.fits;
    result.fit_set_apart = exclusions.reason(row, Aspect::fit);
  }
  return result;
}

}  // namespace fourhold::measured

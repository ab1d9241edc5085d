#include "calibrate/timed_rows.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/measured/exclusions.h"
#include "fourhold/measured/row_files.h"
#include "fourhold/measured/row_setup.h"
#include "fourhold/measured/row_words.h"
#include "fourhold/measured/step_seconds.h"
#include "fourhold/predict/time.h"

namespace fourhold::calibrate {
namespace {

using measured::MeasuredRow;

std::vector<std::string> classes_of(const MeasuredRow& row, const measured::RowSetup& setup) {
  std::vector<std::string> classes{"all"};
  const std::string precision = lowered(row.precision);
  const bool fp8 = measured::contains(precision, "fp8") || measured::contains(precision, "float8");
  const bool fp4 = measured::contains(precision, "fp4");
  classes.emplace_back(row.experts ? "experts" : "dense");
  if (fp4) {
    classes.emplace_back("fp4");
  } else {
    classes.emplace_back(fp8 ? "fp8" : "16-bit");
  }
  if (setup.profile.time.stalled_layer_seconds > 0) {
    const bool stalls = predict::layer_floor_seconds(setup.plan, setup.profile, setup.cluster) > 0;
    classes.emplace_back(stalls ? "stalled" : "not_stalled");
  }
  return classes;
}

}  // namespace

std::vector<MeasuredRow> read_rows(const std::vector<std::string>& files) {
  if (files.empty()) return measured::builtin_rows();
  std::vector<MeasuredRow> rows;
  for (const std::string& file : files) {
    for (MeasuredRow& row : measured::read_row_file(file)) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<TimedRow> timed_rows(const std::vector<MeasuredRow>& rows,
                                 measured::Catalogue& catalogue) {
  static const measured::Exclusions exclusions(measured::excluded_text(), "excluded.csv");
  std::vector<TimedRow> timed;
  for (const MeasuredRow& row : rows) {
    if (!exclusions.reason(row, measured::Aspect::step_time).empty()) continue;
    const measured::RowReading reading = measured::setup_of(row, catalogue);
    if (!reading.setup) continue;
    const measured::RowSetup& setup = *reading.setup;
    const auto seconds = measured::measured_step_seconds(row, setup);
    if (!seconds || *seconds <= 0) continue;
    predict::TimePrediction prediction;
    try {
      prediction = predict::predict_time(setup.config, setup.plan, setup.profile, setup.cluster);
    } catch (const Error&) {
      continue;
    }
    timed.push_back(
        {.id = row.id,
         .source = std::string(row.family()),
         .model = row.model,
         .sweep = fmt::format("{}, {} {}, sequence {}", row.model, row.num_gpus.value_or(0),
                              row.gpu, row.seq_len.value_or(0)),
         .classes = classes_of(row, setup),
         .sequences = static_cast<double>(setup.plan.global_batch),
         .measured_seconds = *seconds,
         .predicted_seconds = prediction.step_seconds,
         .parts = prediction.parts,
         .device = setup.cluster.device.name,
         .profile = setup.profile.name});
  }
  return timed;
}

}  // namespace fourhold::calibrate

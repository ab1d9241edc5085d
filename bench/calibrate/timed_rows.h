// Measured rows with the seconds that were measured and those that are predicted: no memory.
#pragma once

#include <string>
#include <vector>

#include "fourhold/measured/catalogue.h"
#include "fourhold/measured/measured_row.h"
#include "fourhold/predict/part_seconds.h"

namespace fourhold::calibrate {

struct TimedRow {
  std::string id;
  std::string source;  // the family of the id
  std::string model;
  std::string sweep;                 // plans that are ranked against each other
  std::vector<std::string> classes;  // "all", and those that goals tell apart
  double sequences = 1;
  double measured_seconds = 0;
  double predicted_seconds = 0;
  predict::PartSeconds parts;
  // Names of what the prediction took its constants from.
  std::string device;
  std::string profile;

  [[nodiscard]] double error_percent() const {
    return (predicted_seconds / measured_seconds - 1) * 100;
  }
};

// The files' rows, or those that ship with the program where there are none.
[[nodiscard]] std::vector<measured::MeasuredRow> read_rows(const std::vector<std::string>& files);

// Those of `rows` whose step time counts: published, predicted and not set apart.
[[nodiscard]] std::vector<TimedRow> timed_rows(const std::vector<measured::MeasuredRow>& rows,
                                               measured::Catalogue& catalogue);

}  // namespace fourhold::calibrate

// A row as the predictor takes it: the run that was measured, rebuilt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/hardware/cluster.h"
#include "fourhold/measured/catalogue.h"
#include "fourhold/measured/measured_row.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/profile.h"

namespace fourhold::measured {

// Which stage's memory a source publishes.
enum class MeasuredStage : std::uint8_t { fullest, first, last };

struct RowSetup {
  model::ModelConfig config;
  plan::Profile profile;
  plan::Plan plan;
  hardware::Cluster cluster;
  MeasuredStage stage = MeasuredStage::fullest;
};

// `setup`, or why there is none.
struct RowReading {
  std::optional<RowSetup> setup;
  std::string skipped;
  std::vector<std::string> assumed;  // what the row does not say, as sentences
};

// Never throws for what a row says: what cannot be rebuilt is skipped with the fact it lacks.
[[nodiscard]] RowReading setup_of(const MeasuredRow& published, Catalogue& catalogue);

}  // namespace fourhold::measured

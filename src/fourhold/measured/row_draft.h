// A row's run while it is being rebuilt.
#pragma once

#include "fourhold/hardware/cluster.h"
#include "fourhold/measured/catalogue.h"
#include "fourhold/measured/findings.h"
#include "fourhold/model/model_config.h"
#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/profile.h"

namespace fourhold::measured {

struct RowDraft {
  explicit RowDraft(Catalogue& known) : catalogue(known) {}

  Catalogue& catalogue;
  model::ModelConfig config;
  plan::Profile profile;  // a copy: rows change what their source did otherwise
  plan::PlanRequest request;
  hardware::Cluster cluster;
  Findings findings;
};

}  // namespace fourhold::measured

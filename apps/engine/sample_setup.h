// From what a user asks of `fourhold sample` to a run that is wholly decided.
#pragma once

#include <string>
#include <vector>

#include "fourhold/api/sample.h"
#include "fourhold/base/units.h"
#include "fourhold/engine/sample/sample_run.h"

namespace fourhold::engine_app {

struct PreparedSampling {
  engine::SampleSetup setup;
  Bytes predicted_bytes;  // of the arena
  std::vector<std::string> notes;
};

// Throws Error for what cannot be generated, and for a run that does not fit --memory or the
// machine, before anything is allocated.
[[nodiscard]] PreparedSampling prepare_sampling(const api::SampleRequest& request);

}  // namespace fourhold::engine_app

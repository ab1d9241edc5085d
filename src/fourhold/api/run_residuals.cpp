#include "fourhold/api/run_residuals.h"

#include <algorithm>
#include <cmath>

namespace fourhold::api {

RunResiduals residuals_of(const plan::Profile& profile, std::string_view device_generation) {
  RunResiduals residuals;
  residuals.exact_bytes = profile.reservation == plan::Reservation::placement;
  if (residuals.exact_bytes) return residuals;
  const confidence::ResidualTable table = confidence::builtin_residuals();
  const confidence::ResidualQuery query{.profile = profile.name, .generation = device_generation};
  residuals.memory = table.memory_basis(query);
  residuals.step = table.basis(query, confidence::Metric::step_time);
  return residuals;
}

double headroom_for(const RunResiduals& residuals, double confidence) {
  if (!residuals.memory) return 0;
  // A hair more, so that rounding does not take the probability below what was asked.
  constexpr double kRounding = 1e-9;
  const double log_ratio = residuals.memory->residuals.quantile(confidence) + kRounding;
  return std::max(0.0, -std::expm1(-log_ratio));
}

}  // namespace fourhold::api

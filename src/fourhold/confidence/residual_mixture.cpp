#include "fourhold/confidence/residual_mixture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fourhold::confidence {
namespace {

// The share of one part's runs that lie up to `x`: linear between neighbouring quantiles. Equal
// neighbours are a jump, counted whole.
double share_up_to_in(const std::vector<double>& quantiles, double x) {
  if (x < quantiles.front()) return 0;
  if (x >= quantiles.back()) return 1;
  const auto above = std::upper_bound(quantiles.begin(), quantiles.end(), x);
  const double low = *(above - 1);
  const auto steps = static_cast<double>(above - 1 - quantiles.begin());
  return (steps + (x - low) / (*above - low)) / static_cast<double>(quantiles.size() - 1);
}

// The same without the runs at `x` itself.
double share_below_in(const std::vector<double>& quantiles, double x) {
  if (x <= quantiles.front()) return 0;
  if (x > quantiles.back()) return 1;
  const auto at = std::lower_bound(quantiles.begin(), quantiles.end(), x);
  const double low = *(at - 1);
  const auto steps = static_cast<double>(at - 1 - quantiles.begin());
  return (steps + (x - low) / (*at - low)) / static_cast<double>(quantiles.size() - 1);
}

}  // namespace

ResidualMixture::ResidualMixture(std::vector<ResidualPart> parts) : parts_(std::move(parts)) {
  for (const ResidualPart& part : parts_) {
    weight_ += part.weight;
    corners_.insert(corners_.end(), part.log_ratios.begin(), part.log_ratios.end());
  }
  std::sort(corners_.begin(), corners_.end());
  corners_.erase(std::unique(corners_.begin(), corners_.end()), corners_.end());
}

double ResidualMixture::share(double log_ratio, At at) const {
  double sum = 0;
  for (const ResidualPart& part : parts_) {
    sum += part.weight * (at == At::up_to ? share_up_to_in(part.log_ratios, log_ratio)
                                          : share_below_in(part.log_ratios, log_ratio));
  }
  return sum / weight_;
}

double ResidualMixture::share_up_to(double log_ratio) const { return share(log_ratio, At::up_to); }

ResidualMixture ResidualMixture::shifted(double log_ratio) const {
  std::vector<ResidualPart> parts = parts_;
  for (ResidualPart& part : parts) {
    for (double& value : part.log_ratios) value += log_ratio;
  }
  return ResidualMixture(std::move(parts));
}

double ResidualMixture::quantile(double share_asked) const {
  // Sums of weights are not exact: a share within rounding is reached.
  constexpr double kRounding = 1e-12;
  const auto corner = std::partition_point(corners_.begin(), corners_.end(), [&](double log_ratio) {
    return share_up_to(log_ratio) < share_asked - kRounding;
  });
  if (corner == corners_.end()) return corners_.back();
  if (corner == corners_.begin()) return corners_.front();
  // Linear from the corner before to this one, where it may jump.
  const double before = share_up_to(*(corner - 1));
  const double below = share(*corner, At::below);
  if (share_asked >= below || below <= before) return *corner;
  return *(corner - 1) + (share_asked - before) / (below - before) * (*corner - *(corner - 1));
}

Interval interval_of(const ResidualMixture& residuals, double predicted, double coverage) {
  const double tail = (1 - coverage) / 2;
  double low = residuals.quantile(tail);
  double high = residuals.quantile(1 - tail);
  if (low > 0) {
    low = 0;
    high = residuals.quantile(std::min(1.0, residuals.share_up_to(0) + coverage));
  } else if (high < 0) {
    high = 0;
    low = residuals.quantile(std::max(0.0, residuals.share_up_to(0) - coverage));
  }
  constexpr double kHalf = 0.5;
  return {.low = predicted * std::exp(low),
          .middle = predicted * std::exp(residuals.quantile(kHalf)),
          .high = predicted * std::exp(high)};
}

double probability_within(const ResidualMixture& residuals, double predicted, double limit) {
  return residuals.share_up_to(std::log(limit / predicted));
}

}  // namespace fourhold::confidence

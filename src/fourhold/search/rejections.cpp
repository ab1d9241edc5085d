#include "fourhold/search/rejections.h"

#include <cmath>
#include <numeric>

namespace fourhold::search {

Limits::Limits(const predict::Capacity& capacity, const plan::Profile& profile)
    : device_budget_(predict::budget_of(capacity).count()),
      needed_over_allocated_(profile.needed_over_allocated()),
      runtime_bytes_(profile.runtime_bytes) {
  if (capacity.host_bytes) host_budget_ = capacity.host_bytes->count();
}

std::optional<Limits::Miss> Limits::miss(const PlanBytes& bytes) const {
  std::int64_t device = bytes.live_peak;
  if (needed_over_allocated_ != 1) {
    device = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(bytes.live_peak) * needed_over_allocated_));
  }
  device += runtime_bytes_;
  if (device > device_budget_) return Miss{Misfit::device_memory, device - device_budget_};
  const std::int64_t host = bytes.host + bytes.host_staging;
  if (host_budget_ && host > *host_budget_) return Miss{Misfit::host_memory, host - *host_budget_};
  return std::nullopt;
}

std::int64_t Rejections::illegal_count() const {
  return std::accumulate(illegal_.begin(), illegal_.end(), std::int64_t{0});
}

std::int64_t Rejections::missed_count() const {
  std::int64_t count = 0;
  for (const Missed& missed : missed_) count += missed.count;
  return count;
}

}  // namespace fourhold::search
